"""Language codes: ISO 639-1, and the ISO 639-3 codes in common use.

A list and not a pattern, so that a misspelt code is refused instead of becoming a new language.

A BCP-47 code is normalised: `_` becomes `-`, the cases are the customary ones, three letters become
two where two exist (`eng` -> `en`), and a script or region is dropped where the plain code already
means it (`zh-CN`, `zho_Hans` -> `zh`; `en-US` -> `en`). Every other region stays, because it is
another text: `pt-BR`, `es-MX` and `zh-TW` are languages of their own.
"""

from __future__ import annotations

import re

from core.errors import InputError

_TAG = re.compile(r"([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|[0-9]{3}))?")

# Two letters, and the three-letter code of the same language.
_ISO_639_1 = """
    aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak
    be:bel bg:bul bi:bis bm:bam bn:ben bo:bod br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre
    cs:ces cu:chu cv:chv cy:cym da:dan de:deu dv:div dz:dzo ee:ewe el:ell en:eng eo:epo es:spa
    et:est eu:eus fa:fas ff:ful fi:fin fj:fij fo:fao fr:fra fy:fry ga:gle gd:gla gl:glg gn:grn
    gu:guj gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun hy:hye hz:her ia:ina id:ind
    ie:ile ig:ibo ii:iii ik:ipk io:ido is:isl it:ita iu:iku ja:jpn jv:jav ka:kat kg:kon ki:kik
    kj:kua kk:kaz kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat
    lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub lv:lav mg:mlg mh:mah mi:mri mk:mkd ml:mal
    mn:mon mr:mar ms:msa mt:mlt my:mya na:nau nb:nob nd:nde ne:nep ng:ndo nl:nld nn:nno no:nor
    nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol ps:pus pt:por
    qu:que rm:roh rn:run ro:ron ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag sh:hbs si:sin
    sk:slk sl:slv sm:smo sn:sna so:som sq:sqi sr:srp ss:ssw st:sot su:sun sv:swe sw:swa ta:tam
    te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah
    ug:uig uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho yi:yid yo:yor za:zha
    zh:zho zu:zul
"""

# Languages that have three letters only.
_ISO_639_3 = """
    ace acf acm acq aeb ajp ang apc arc ars ary arz ast awa ayr azb ban bar bci bcl bem bgp bho
    bjn brx bug bxr cak cdo ceb cjk ckb cop crh dag dik doi dsb dty dyu fil fon frr fur fuv gan
    gcf gcr gom grc gsw gur hak haw hil hmn hne hno hsb hsn hyw ilo jam kab kac kam kbd kbp kea
    kjh kmb kmr knc koi kok krc lij lmo ltg lua luo lus lzh mag mai mam mdf mfe mhr min mni mnk
    mos mrj mwl myv nan nap nds nqo nso nus pag pam pap pbt pcm pms pnb prs quc quy quz rhg rif
    rom sah sat scn sco shi shn sid sjd skr sma smj smn sms srn syl szl taq tet tig tpi trv tum
    tyv tzm udm umb vai vec vro wal war wuu xmf yue zea zgh zza
"""

# Withdrawn codes, and single languages that the data sets mean by the code of their group.
_ALIASES = """
    iw:he in:id ji:yi als:sq arb:ar azj:az cmn:zh gaz:om khk:mn lvs:lv npi:ne ory:or pes:fa plt:mg
    swh:sw uzn:uz ydd:yi zsm:ms
"""

# Script and region that the plain code already means; "-" where no region is the default.
_IMPLIED = """
    ar:Arab:- de:Latn:DE en:Latn:US es:Latn:ES fa:Arab:IR fr:Latn:FR he:Hebr:IL hi:Deva:IN
    id:Latn:ID it:Latn:IT ja:Jpan:JP ko:Kore:KR nl:Latn:NL pl:Latn:PL pt:Latn:- ru:Cyrl:RU
    sw:Latn:- th:Thai:TH tr:Latn:TR uk:Cyrl:UA vi:Latn:VN zh:Hans:CN
"""

# What people call them; a code stands for itself where no name is listed.
_NAMES = """
    af:Afrikaans am:Amharic ar:Arabic az:Azerbaijani be:Belarusian bg:Bulgarian bn:Bengali
    bs:Bosnian ca:Catalan cs:Czech cy:Welsh da:Danish de:German el:Greek en:English es:Spanish
    et:Estonian eu:Basque fa:Persian fi:Finnish fil:Filipino fr:French ga:Irish gl:Galician
    gu:Gujarati ha:Hausa he:Hebrew hi:Hindi hr:Croatian hu:Hungarian hy:Armenian id:Indonesian
    ig:Igbo is:Icelandic it:Italian ja:Japanese ka:Georgian kk:Kazakh km:Khmer kn:Kannada ko:Korean
    lo:Lao lt:Lithuanian lv:Latvian mk:Macedonian ml:Malayalam mn:Mongolian mr:Marathi ms:Malay
    mt:Maltese my:Burmese ne:Nepali nl:Dutch no:Norwegian pa:Punjabi pl:Polish pt:Portuguese
    ro:Romanian ru:Russian sk:Slovak sl:Slovenian so:Somali sq:Albanian sr:Serbian sv:Swedish
    sw:Swahili ta:Tamil te:Telugu th:Thai tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu uz:Uzbek
    vi:Vietnamese xh:Xhosa yo:Yoruba yue:Cantonese zh:Chinese zu:Zulu
"""


def _pairs(text: str) -> list[list[str]]:
    return [entry.split(":") for entry in text.split()]


LANGUAGES = frozenset([two for two, _ in _pairs(_ISO_639_1)] + _ISO_639_3.split())
PREFERRED = {three: two for two, three in _pairs(_ISO_639_1)} | dict(_pairs(_ALIASES))
IMPLIED = {code: (script, region) for code, script, region in _pairs(_IMPLIED)}
NAMES = dict(_pairs(_NAMES))


def normalise_language(code: str) -> str:
    """The normal form of a BCP-47 language code.

    Raises
    ------
    InputError
        The text is not a language code, or not one of a known language.
    """
    # Checked before lower(): the Kelvin sign and a few others would turn into ASCII letters.
    match = _TAG.fullmatch(code.replace("_", "-").lower()) if code.isascii() else None
    if match is None:
        raise InputError(f"{code!r} is not a language code such as en, zh or pt-BR.")
    language, script, region = match.groups(default="")
    language = PREFERRED.get(language, language)
    if language not in LANGUAGES:
        raise InputError(f"{code!r} does not begin with a known language code such as en or zh.")
    script, region = script.title(), region.upper()
    implied_script, implied_region = IMPLIED.get(language, ("", ""))
    if script == implied_script:
        script = ""
    if region == implied_region and not script:
        region = ""
    return "-".join(part for part in (language, script, region) if part)


def language_name(code: str) -> str:
    """What people call a language in its normal form: hi is Hindi, pt-BR Portuguese (BR)."""
    plain, _, rest = code.partition("-")
    name = NAMES.get(plain, plain)
    return f"{name} ({rest})" if rest else name
