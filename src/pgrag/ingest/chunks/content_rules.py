"""The rules that classify text by content tags, in English, German and Russian, as data. They
prefer precision: a missing tag is a smaller fault than a wrong one.
"""

import re
from functools import cached_property
from itertools import islice
from typing import Literal

#: "type", "audience": as the author declared them; a tag of the page counts as an audience.
#: "title": the page's. "heading": the chunk's. "path": each heading above the chunk, and its own.
#: "opening": the first sentence. "text": the whole chunk without the lines of its code.
Place = Literal["type", "audience", "title", "heading", "path", "opening", "text"]


class Rule:
    """A tag for texts in whose `place` the patterns match at least `times` times. One of the words
    in `needs`, a quick check, occurs in all of them.
    """

    def __init__(
        self, tag: str, place: Place, *patterns: str, times: int = 1, needs: str = ""
    ) -> None:
        self.tag = tag
        self.place = place
        self._patterns = patterns
        self._times = times
        self._needs = needs.split(",")
        self._needs_of_ascii = [word for word in self._needs if word.isascii()]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{pattern})" for pattern in self._patterns), re.I | re.M)

    def fits(self, text: str, lower: str) -> bool:
        """Whether a text, also given in lower case, gets the tag."""
        for word in self._needs_of_ascii if lower.isascii() else self._needs:
            if word in lower:
                break
        else:
            return False
        if self._times == 1:
            return self._pattern.search(text) is not None
        return sum(1 for _ in islice(self._pattern.finditer(text), self._times)) == self._times


#: Kinds exclude each other only if an author declares one; marks combine with any kind. A text has
#: at most one audience: its page's, unless a heading names another.
KINDS = ("procedural", "conceptual", "reference", "policy")
MARKS = ("definition", "example", "warning")
AUDIENCES = ("beginner", "intermediate", "advanced")
CONTENT_TAGS = (*KINDS, *MARKS, *AUDIENCES)

_ORDERS = (
    "add|apply|attach|build|change|check|choose|clean|click|close|configure|connect|copy|create|"
    "delete|deploy|disable|disconnect|download|drain|edit|enable|enter|export|go to|hold|import|"
    "insert|install|launch|log in|log into|log out|lower|make sure|mount|move|navigate|open|paste|"
    "place|press|pull|push|reboot|remove|rename|repeat|replace|restart|rinse|run|save|scroll|"
    "select|set up|sign in|start|stop|switch|tap|tighten|turn|type|unplug|unscrew|update|upgrade|"
    "upload|use|verify|view|wait|wipe"
)
_INFINITIVES = (
    "aktivieren|aktualisieren|ändern|anlegen|anmelden|anpassen|anschließen|austauschen|bauen|"
    "bereitstellen|deinstallieren|einbauen|einrichten|einschalten|einstellen|entfernen|entkalken|"
    "erstellen|hinzufügen|installieren|konfigurieren|koppeln|laden|leeren|löschen|melden|messen|"
    "prüfen|reinigen|sichern|starten|stoppen|tauschen|übertragen|verbinden|vorbereiten|wechseln|"
    "wiederherstellen|zurücksetzen"
)
_ORDERS_RU = (
    "введите|включите|выберите|выключите|выполните|дождитесь|добавьте|загрузите|закройте|замените|"
    "запустите|извлеките|измените|нажмите|настройте|отключите|откройте|отсоедините|перейдите|"
    "перезагрузите|подключите|подождите|проверьте|протрите|сделайте|скачайте|скопируйте|снимите|"
    "создайте|сохраните|удалите|укажите|установите"
)
_NOT_A_NAME = (
    "the|an?|this|that|these|those|it|there|here|he|she|they|we|you|if|when|where|while|what|which|who|"
    "why|how|as|in|on|for|to|with|by|at|of|one|two|both|each|every|most|some|many|all|another|"
    "however|following|above|below|note|because|since|after|before|also|but|and|or|so|not|next|now|see|"
    "dies|das|dieser|diese|dieses|es|hier|wenn|wer|was|wie|wo|da|dann|er|sie|man|im|in|auf|bei|für|"
    "это|этот|эта|эти|он|она|они|оно|если|когда|здесь|там|что|как|где|для|в|на|при|из"
)
#: A noun phrase of up to six words, without a comma.
_NAME = rf"(?!(?:{_NOT_A_NAME})\b)(?:[\w*`«»\"'„“()/.+#-]+ ){{1,6}}"

# fmt: off
RULES = (
    Rule("procedural", "type", r"^(?:task|how-?to|tutorial|procedure|anleitung|инструкция)$"),
    Rule("conceptual", "type", r"^(?:concept|conceptual|explanation|overview|konzept)$"),
    Rule("reference", "type",
        r"^(?:reference|referenz|справочник|.*[_-]reference|feature_gate)$",
        r"^(?:web-api|css|html|svg|http|javascript|webgl|mathml|webextension)-(?!.*guide)"),
    Rule("policy", "type", r"^(?:policy|richtlinie|contract|vertrag|agreement|договор)$"),
    Rule("procedural", "heading",
        r"^how (?:to|do i|can i)\b"
        r"(?! (?:get (?:involved|in touch)|contribute|help|participate|(?:learn|find out) more))",
        rf"^(?:step \d+\b.*|steps|procedure|(?:{_ORDERS})(?! (?:case|time))(?: [\w`'./()*-]+)+)$",
        r"^(?:(?:un)?installing|setting up|upgrading|cleaning up) ",
        r"^(?:schritt \d+\b.*|schritte|anleitung|vorgehen|so (?:geht|funktioniert) es)$",
        rf"^(?:[\w`'./()-]+ )+(?:{_INFINITIVES})$",
        r"^(?:шаг \d+\b.*|шаги|порядок действий|пошаговая инструкция.*)$",
        rf"^как (?:\w+(?:ть|ти)(?:ся)?)\b|^(?:{_ORDERS_RU}) "),
    Rule("procedural", "text",
        # Without numbers only sentences count: "- Add colours (#12)" is a change, "- list" a verb.
        # One pattern: where no item begins, it fails once and not three times.
        r"^ *(?=[\d*-])(?:"
        rf"(?:\d+[.)]|[*-](?=.*[.:]$)) +(?:then |now |next, )?(?:{_ORDERS})\b"
        r"(?!.*(?:#\d|/pull/))"
        r"|(?:\d+[.)]|[*-]) +[A-ZÄÖÜ]\w+en Sie\b"
        rf"|(?:\d+[.)]|[*-]) +(?:{_ORDERS_RU})\b"
        r")",
        times=2),
    Rule("procedural", "text",
        r"\b(?:run|execute|enter|type) (?:the following|this) commands?\b",
        r"\b(?:follow|complete|perform) (?:these|the following) steps\b",
        r"\bführen sie (?:den |die )?folgenden? (?:befehle?|schritte?)\b",
        r"\bgehen sie (?:dazu )?(?:so|wie folgt) vor\b",
        r"\bвыполните (?:следующ\w+ )?(?:команд|шаг|действи)",
        needs="command,steps,führen sie,gehen sie,выполните"),
    # What the numbers below or behind a colon are for, whatever their verbs.
    Rule("procedural", "text",
        r"\b(?:(?:steps|procedure|process) (?:to|for|of)|to) [a-z][^.:\n]{1,100}:\s+"
        r"(?:1[.)]|step 1\b)[^\n]*\s+(?:2[.)]|step 2\b) ",
        r"\b(?:schritte (?:zu[mr]?|für)|um) [^.:\n]{1,100}:\s+1[.)][^\n]*\s+2[.)] ",
        r"\b(?:(?:шаги|порядок) |чтобы )[^.:\n]{1,100}:\s+1[.)][^\n]*\s+2[.)] ",
        needs="1.,1),step 1"),
    Rule("conceptual", "heading",
        r"^(?:concepts?(?: and usage)?|key concepts|core concepts|overview|introduction|"
        r"background|motivation|rationale|architecture|design principles|how it works|"
        r"terminology)$",
        r"^(?:what (?:is|are) (?!next|new)|what's an? |why (?!not$)|how .+ works?$|"
        r"understanding )",
        r"^(?:überblick|übersicht|einführung|einleitung|grundlagen|hintergrund|architektur|"
        r"funktionsweise|begriffe|grundbegriffe)$",
        r"^(?:was (?:ist|sind|bedeutet) |warum |wie .+ funktioniert$)",
        r"^(?:обзор|введение|основы|архитектура|терминология|основные понятия|"
        r"принцип(?:ы)? работы|как это работает)$",
        r"^(?:что такое |почему |зачем |как (?:работает|устроен))"),
    Rule("reference", "heading",
        r"^`?(?:(?:\w+ )?reference|syntax|parameters?|(?:positional )?arguments|options|flags|"
        r"return values?|(?:instance |static )?(?:properties|methods)|attributes|fields|values|"
        r"exceptions|events|formal (?:definition|syntax)|specifications|browser compatibility|"
        r"environment variables|constructors?|error codes|exit (?:codes|status)|synopsis|"
        r"technical (?:data|specifications)|keyboard shortcuts|"
        r"options inherited from parent commands|http request|query parameters|"
        r"(?:path|body|query) parameters|response)`?$",
        r"^(?:\w*referenz|parameter|argumente|optionen|schalter|rückgabewerte?|eigenschaften|"
        r"attribute|methoden|technische daten|fehlercodes|umgebungsvariablen|"
        r"tastenkürzel|tastenkombinationen|befehlsübersicht|abmessungen)$",
        r"^(?:справочник|синтаксис|параметры|аргументы|опции|ключи|возвращаем\w+ значени\w|"
        r"свойства|атрибуты|методы|технические характеристики|коды ошибок|"
        r"переменные окружения|горячие клавиши|поля)$"),
    Rule("reference", "text",
        r"^\|? *(?:name|field|option|parameter|property|flag|code|command|attribute|argument|"
        r"variable|key|shortcut|setting)s? *\|.*\b(?:description|meaning|default|effect|type|"
        r"action|value)\b",
        r"^\|? *(?:name|feld|option|parameter|eigenschaft|schalter|code|befehl|attribut|"
        r"variable|taste|einstellung|kennwert)\w* *\|.*\b(?:beschreibung|bedeutung|vorgabe|"
        r"wirkung|typ|wert)\b",
        r"^\|? *(?:имя|поле|опция|параметр|свойство|ключ|код|команда|атрибут|аргумент|"
        r"переменная|клавиша|показатель) *\|.*\b(?:описание|значение|действие|тип)\b",
        needs="|"),
    Rule("reference", "text",
        r"^ *(?:[*-] +)?\**`[^`\n]+`\**(?: ?\([^)\n]*\))?(?: \w+)?(?: [—–-] |: )",
        r"^ *(?:[*-] +)?`?-{1,2}[a-z][\w-]+[^\n]{0,40}(?: [—–-] |: |  )",
        times=3,
        needs="`,--, -"),
    Rule("policy", "heading",
        r"^code of conduct$|^terms (?:of (?:use|service)|and conditions)\b",
        # "The new volume retention policy" is a feature.
        r"^(?:(?:the|our|company|corporate|staff|employee|group|general|project) )*"
        r"(?:privacy|acceptable[- ]use|(?:data|records?|documents?) retention|return|refund|"
        r"travel|(?:\w+ )?deprecation|support|version[- ]skew|password|data protection|leave|"
        r"trademark|expense|security release) policy$",
        r"^(?:§ ?\d+|article \d+|section \d+|clause \d+)\b",
        r"^(?:termination|liability|confidentiality|governing law|indemnification|warranty)$",
        r"\b(?:datenschutz|reise|sicherheits|spesen|passwort|homeoffice)richtlinien?\b",
        r"^(?:verhaltenskodex|nutzungsbedingungen|datenschutz(?:erklärung|hinweise)?|"
        r"hausordnung|haftung|gewährleistung|geheimhaltung|kündigung|vertragsstrafe|"
        r"verschwiegenheit)$",
        r"^(?:политика |правила |условия использования|кодекс |ответственность сторон|"
        r"порядок расторжения|обязанности сторон)"),
    Rule("policy", "text",
        r"\b(?:shall(?: not)?|(?:is|are) (?:strictly )?(?:prohibited|forbidden)|"
        r"(?:is|are) obliged to|"
        r"the (?:tenant|landlord|employee|employer|contractor|client|licensee|parties) "
        r"(?:must|may|agrees?|undertakes?|will)|(?:prior )?written consent|in breach of|"
        r"notice period|disciplinary)\b",
        r"\b(?:(?:ist|sind) (?:verpflichtet|untersagt|unzulässig)|verpflichtet sich|haftet|"
        r"haften|kündigungsfrist|schriftliche[rn]? (?:zustimmung|genehmigung|form)|"
        r"der (?:mieter|vermieter|arbeitnehmer|arbeitgeber|auftragnehmer|auftraggeber) "
        r"(?:darf|hat|kann|ist)|§ ?\d+)",
        r"\b(?:обязан[аоы]?|обязуется|запрещ(?:ается|ено|ены)|не допускается|"
        r"нес[её]т ответственность|письменно\w+ согласи\w|"
        r"(?:арендатор|арендодатель|работник|работодатель|исполнитель|заказчик|стороны) "
        r"(?:вправе|обяз|не вправе))",
        times=2,
        needs="shall,prohibited,forbidden,obliged,the tenant,the landlord,the employe,"
        "the contractor,the client,licensee,the parties,written consent,in breach of,"
        "notice period,disciplinary,verpflichtet,untersagt,unzulässig,haftet,haften,"
        "kündigungsfrist,schriftliche,mieter,arbeitnehmer,arbeitgeber,auftragnehmer,"
        "auftraggeber,§,обязан,обязуется,запрещ,допускается,ответственность,согласи,вправе,"
        "обяз"),
    Rule("definition", "opening",
        rf"^(?:(?:an?|the) )?{_NAME}(?:is|are) an? "
        r"(?!(?:critical|important|key|crucial|vital|essential|major|common|good|great|bit|lot|"
        r"matter|must|ongoing|bold|distinct|different|optional)\b)[^?]*$",
        rf"^(?:(?:an?|the) )?{_NAME}(?:refers to|denotes|stands for|is defined as|"
        r"is the (?:name|term|process|practice|smallest|unit|ability|component|part) )",
        rf"^(?:(?:eine?|der|die|das) )?{_NAME}(?:ist|sind) eine? [^?]*$",
        rf"^(?:(?:eine?|der|die|das) )?{_NAME}(?:bezeichnet|nennt man|heißt|steht für) ",
        r"^(?:als|unter) [^.,]{2,60}(?:bezeichnet|versteht) man\b",
        rf"^(?!(?:{_NOT_A_NAME})\b)[\w*`«»\"'()/ .+-]{{2,60}} ?[—–-] ?это ",
        rf"^(?!(?:{_NOT_A_NAME})\b)[\w*`«»\"'()/ .+-]{{2,60}} "
        r"(?:называ(?:ется|ют|ются)|представля(?:ет|ют) собой) ",
        needs=" is , are , refers to , denotes , stands for , ist , sind ,bezeichne, heißt ,"
        " nennt , steht für ,versteht,это,называ,представля"),
    Rule("example", "path",
        r"^(?:\w+ )?examples?$|^examples?(?: \d+\b|:| of | for | with | using )",
        r"^(?:\w*beispiele?|beispiele? (?:\d+|für|mit)\b.*)$",
        r"^пример(?:ы)?(?: [\w ]+)?$"),
    Rule("example", "text",
        r"\b(?:for example|e\.g\.|as an example)[^.\n]{0,100}:\s*\n+\s*(?:`{3}|~{3})",
        r"\b(?:here(?:'s| is| are)(?: some| an?)?(?: \w+)? examples?|"
        r"(?:the )?(?:following|above|below) (?:\w+ )?examples?|"
        r"consider the following (?:code|example|manifest|snippet|configuration)|"
        r"(?:this|the) (?:\w+ )?example (?:shows|demonstrates|creates|uses|defines|assumes))\b",
        r"^\**example\**(?: \d+)?\**:",
        r"\b(?:zum beispiel|z\. ?b\.|beispielsweise)[^.\n]{0,100}:\s*\n+\s*(?:`{3}|~{3})",
        r"\b(?:folgende[sn]?|dieses|obige[sn]?) beispiele?\b",
        r"^\**(?:rechen)?beispiel\**(?: \d+)?\**:",
        r"\bнапример[^.\n]{0,100}:\s*\n+\s*(?:`{3}|~{3})",
        r"\b(?:следующ\w+|привед[её]нн\w+|в этом) пример|^\**пример\**(?: \d+)?\**:",
        needs="example,e.g.,beispiel,z. b.,z.b.,пример"),
    Rule("warning", "text",
        r"^ *(?:> *)*\[!(?:warning|caution|danger|attention)\]",
        r"^ *(?:> *)*\**(?:warning|caution|danger|achtung|warnung|vorsicht|gefahr|"
        r"внимание|осторожно|предупреждение|опасно)!?(?:\*\*:?|[:!])",
        needs="warning,caution,danger,attention,achtung,warnung,vorsicht,gefahr,внимание,осторожно,"
        "предупреждение,опасно"),
    Rule("beginner", "audience",
        r"^(?:beginners?|novices?|newcomers?|introductory|elementary|easy)$",
        r"^(?:anfänger(?:innen)?|einsteiger(?:innen)?|leicht|einfach)$",
        r"^(?:начинающи[йем]|новичк?(?:ок|и|ам)|начальный|л[её]гкий|простой)$"),
    Rule("intermediate", "audience",
        r"^intermediate$|^mittel(?:stufe|schwer)?$|^средний$"),
    Rule("advanced", "audience",
        r"^(?:advanced|experts?|experienced|hard|difficult)$",
        r"^(?:fortgeschritten(?:e|er)?|experten?|profis?|schwer|schwierig)$",
        r"^(?:продвинутый|опытны[йем]|эксперт(?:ы|ам)?|сложный)$"),
    Rule("beginner", "title",
        r"^(?:get(?:ting)? started|quick ?start|first steps|your first|hello,? \w+$|"
        r"intro(?:duction)? to|tour of)\b|\b(?:basics|quick ?start|101)$|"
        r"^what (?:is|are) (?!new|next)[\w .-]+$",
        r"^(?:erste schritte|schnelleinstieg|einstieg in|einführung in|was (?:ist|sind))\b|"
        r"\b(?:grundlagen|schnelleinstieg)$",
        r"^(?:первые шаги|начало работы|быстрый старт|введение в|знакомство с|основы|что такое)\b"),
    Rule("advanced", "title",
        r"^advanced\b|\badvanced (?:usage|topics|configuration|features|guide|options)\b|"
        r"\binternals\b|\bdeep[- ]dive\b|\bunder the hood\b|\bfor experts\b|"
        r"\bhigh(?:ly)?[- ]availab|^hardening\b|\bdisaster recovery\b|\bperformance tuning\b|"
        r"^(?:extend(?:ing)?|(?:writ|develop|build|implement)(?:e|ing)?) (?:the|an?|your own) .*"
        r"\b(?:plugins?|drivers?|providers?|operators?|controllers?|schedulers?|extensions?|"
        r"api)\b",
        r"\bfortgeschritten|\bfür (?:experten|profis)\b|\bhochverfügbar|\binterna$|"
        r"\bunter der haube\b|\bhärtung\b|\bleistungsoptimierung\b",
        r"\bпродвинут|\bрасширенн\w+ (?:возможности|настройк)|\bдля экспертов\b|"
        r"\bвнутренне\w+ устройств|\b(?:высок\w+ доступност|отказоустойчив)|\bпод капотом\b"),
    Rule("beginner", "path",
        r"\b(?:for|guide to) (?:absolute |complete )?beginners\b|\bbeginner'?s?'? guide\b|"
        r"^(?:getting started|quick ?start|first steps|your first [\w -]+)!?$",
        r"\bfür (?:einsteiger|anfänger|neulinge)\b|^(?:erste schritte|schnelleinstieg)$",
        r"\bдля (?:начинающих|новичков)\b|^(?:первые шаги|начало работы|быстрый старт)$"),
    Rule("intermediate", "heading",
        r"^(?:before you (?:begin|start)|(?:\w+ )?prerequisites?)$",
        r"^(?:(?:\w+)?voraussetzungen|vorkenntnisse|bevor (?:sie|du) (?:beginn|anf|start)\w+)$",
        r"^(?:предварительные (?:требования|условия)|перед началом(?: работы)?|"
        r"прежде чем начать|подготовка к работе)$"),
    Rule("intermediate", "text",
        r"\b(?:you|readers?) (?:should|must|need to) (?:already )?(?:be familiar with|"
        r"familiarize yourself with|have read|(?:have|know) the basics)\b|"
        r"\bassum(?:es?|ing) (?:that )?(?:you(?:'re| are| already)? (?:know|familiar|"
        r"understand)|(?:basic |some )?(?:familiarity|knowledge))",
        r"\b(?:require|need)s? (?:(?:some|a|basic|working|prior) )*(?:knowledge|understanding) "
        r"of\b",
        r"\b(?:grundkenntnisse|vorkenntnisse|kenntnisse) .{0,60}(?:vorausgesetzt|erforderlich|"
        r"nötig)|\bsollten sie (?:bereits )?(?:vertraut|kennen)|\bsetzt .{0,60}kenntnisse voraus",
        r"\bпредполагается, что вы\b|\bнеобходим\w* (?:базов\w+ )?знани|"
        r"\bвы должны (?:уже )?(?:знать|понимать|быть знакомы)",
        needs="familiar,know,understand,have read,basics,assum,kenntnisse,sollten sie,"
        "предполагается,знани,вы должны"),
    Rule("advanced", "path",
        r"^advanced\b|\badvanced (?:usage|topics|configuration|features|guide|users|options)\b|"
        r"\bfor experts\b|\bdeep dive$|^(?:deep dive|internals)\b",
        r"\bfür (?:fortgeschrittene|experten|profis)\b|^fortgeschrittene\b",
        r"\bдля (?:опытных|продвинутых|экспертов)\b|^(?:продвинут|расширенные возможности)"),
)
# fmt: on
