"""Sentence pairs of identities, built from templates, names, identities and predicates.

After "WinoQueer-NL" (arXiv 2609.02651), section 3 of the method. A folder of plain CSV files says
what a community wants to measure (docs/identity-pairs.md):

    slots.py     a template and its slots: {identity:people}, {predicate:main}, {name}
    names.py     names by group, and which groups an identity takes
    folder.py    the five files, every problem named by its row
    contents.py  what they hold
    checks.py    what one file names and another does not have, or has twice
    meanings.py  the predicates by what a template has of them
    plan.py      which pairs there will be, counted before any is built
    exclusions.py  what is left out, and why
    build.py     the pairs as items
    proof.py     that two sentences differ in the identity and in nothing else
"""
