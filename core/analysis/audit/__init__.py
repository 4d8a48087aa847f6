"""The audit: which gaps between languages are real, how large the noise is, what it rests on.

After "Lost in Translation" (arXiv 2610.20479). A table is a function of a panel of scores, a
request and the tables that it builds on; `audit.py` says which those are and remembers results.

===================  ==================================================================
item_flow            item_flow.py
main                 main.py, on the drops of drops.py
cells, score_map     cells.py
floors               floors.py
floor_vs_gap         floor_vs_gap.py
item_tests           item_tests.py, on the changes of item_changes.py
css_clci             css_clci.py
association          carry_over.py, intercept too
same_choice          choices.py, fates and distance too
agreement            agreement.py
quality              quality.py, with quality_filters.py
surface              surface.py
groups               groups.py
bbq_unknown          unknown_fluency.py, fluency_icat too
natives              natives.py
score_panel          score_panel.py
injection            injection.py
power                power.py
control              control.py
pipeline_errors      pipeline_errors.py, with error_intervals.py
equivalence          equivalence.py
wording_variance     wording_variance.py
attenuation          attenuation.py
shrunk               shrunk.py
crossed              crossed.py
fragility            fragility.py, with specifications.py and differential_items.py
verdicts             verdicts.py, in the words of verdict_sentences.py
===================  ==================================================================

What they share: request.py (what is asked), loading.py and panel.py (scores as arrays), metadata.py
(what is said of versions), columns.py (columns of many tables), names.py (names and reasons of
many tables), words.py (differences and intervals in sentences).
Beside the tables, for pages: distributions.py, points.py, kept.py, floor_sentences.py, arms.py, and
the lab: lab.py, lab_shift.py, lab_plan.py and lab_words.py.
"""
