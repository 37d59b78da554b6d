"""Function words by language: they tell which language a text is in, and say little in a query.

Only words that carry no topic of their own: articles, pronouns, prepositions, conjunctions, auxiliaries, question
words. Lower case, accents kept.
"""

from __future__ import annotations

from functools import lru_cache

_LATIN = {
    "en": """
        a about above after again against all also am an and any are as at be because been before being below
        between both but by can could did do does doing down during each either every few for from further had
        has have having he her here hers herself him himself his how i if in into is it its itself just let many
        may me might more most much must my myself neither no nor not of off on once one only or other our ours
        ourselves out over own per same shall she should since so some such than that the their theirs them
        themselves then there these they this those through to too under until up upon us very was we were what
        when where whether which while who whom whose why will with within would yet you your yours yourself
        yourselves""",
    "de": """
        aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus bei
        beim bezüglich bin bis bist da dabei dafür damit dann das dass davon dein deine dem den denn der deren
        des deshalb dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem
        einen einer eines er es etwas euch euer für gegen hab habe haben hat hatte hatten hier hin hinter ich
        ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden jeder jedes jedoch jene
        jener kann kein keine keinem keinen keiner können könnte mal man mehr mein meine mich mir mit muss
        musste nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie
        sind so solche sollte sondern sowie um und uns unser unsere unter viel vom von vor wann war waren warum
        was weil welche welchem welchen welcher welches wenn wer werde werden wie wieder will wir wird wo
        wodurch wofür woran worauf woraus worin wozu wurde wurden während würde würden zu zum zur zwar zwischen
        über""",
    "fr": """
        afin ai ainsi alors après au aucun aucune auquel aussi autre autres aux auxquels avaient avait avant
        avec avez avoir avons ayant c car ce ceci cela celle celles celui ces cet cette ceux chaque chez ci
        comme comment d dans de depuis des donc dont du duquel dès elle elles en encore entre est et eu eux fait
        fut il ils j je jusque l la laquelle le lequel les lesquels leur leurs lors lorsque lui là m ma mais me
        mes moi moins mon même mêmes n ne ni nos notre nous on ont ou où par parce pas pendant peu peut peuvent
        plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se selon sera serait ses si
        soit son sont sous sur t ta tandis te tel telle tes toi ton tous tout toute toutes très tu un une vers
        vos votre vous y à étaient était été être""",
    "es": """
        a al algo alguna algunas alguno algunos ante antes aquel aquella aquellos así aun aunque bajo bien cada
        como con contra cual cuales cualquier cuando cuanto cuál cuáles cuándo cuántas cuánto cuántos cómo de
        del desde después donde durante dónde e el ella ellas ellos en entre era eran es esa esas ese eso esos
        esta estaba estamos estar estas este esto estos está están fue fueron ha había habían han hasta hay la
        las le les lo los me mi mientras mis mucho muchos muy más nada ni no nos nosotros nuestra nuestro o os
        otra otras otro otros para pero por porque pues que quien quienes quién qué se sea según ser si sido sin
        sino sobre son su sus sí también tan tanto te tenía tiene tienen todo todos tu tú un una unas uno unos
        usted y ya yo él""",
    "it": """
        a abbia abbiamo ad agli ai al alla alle allo altra altre altri altro anche ancora avere aveva avevano c
        che chi ci cioè circa ciò come con contro cosa così cui d da dagli dai dal dalla dalle dallo degli dei
        del dell della delle dello dentro di dopo dove durante e ed era erano essere fra fu furono gli ha hanno
        ho i il in infatti io l la le lei li lo loro lui ma me mentre mi mia mio molti molto ne negli nei nel
        nell nella nelle nello noi non nostra nostro né o ogni oppure per perché però più poi presso può qual
        quale quali quando quanti quanto quella quelle quelli quello questa queste questi questo qui se sei
        senza si sia siano sono sopra sotto sta stata stati stato su sua sue sugli sui sul sulla sulle suo suoi
        tra tu tutta tutte tutti tutto un una uno verso vi voi è""",
    "pt": """
        a ainda algum alguma alguns além ante ao aos apenas após aquela aquele aqueles aquilo as até cada com
        como contra da das de dela dele deles depois desde dessa desse desta deste do dos durante e ela elas ele
        eles em enquanto entre era eram essa essas esse esses esta estar estas estava este estes está estão eu
        foi foram fosse há isso isto já lhe lhes mais mas me mesmo meu minha muito muitos na nas nem nenhum
        nessa nesse nesta neste no nos nossa nosso num numa não nós o onde os ou outra outras outro outros para
        pela pelas pelo pelos perante pode podem pois por porque porém quais qual qualquer quando quantas quanto
        quantos que quem quê se seja sem sempre sendo ser será seu seus sido sob sobre sua suas são também tem
        tinha toda todas todo todos tu tua tão têm um uma umas uns vai você vocês à às é""",
    "ca": """
        a abans així això al aleshores algun alguna alguns als altra altre altres amb any aquell aquella aquells
        aquest aquesta aquestes aquests com contra d dalt de del dels des després dins doncs dos durant el ell
        ella ells els em en encara entre era eren estan estat estava està ets fins ha han havia hi ho i jo l la
        les li llavors lo los m mentre meu molt molts més n ni no nosaltres nostra nostre o on pel pels per
        perquè però poc pot quan quant que qui quin quina què s sense ser seu seus seva seves si sobre sota sóc
        són també tan tant te tenen tot tota totes tots tu un una unes uns va van és""",
    "ro": """
        a acea aceasta această aceea acel acela acele acest acesta aceste acestea acestei acestor acestui acum
        ai aici al ale alt alta alte altele altă am ar are as asta astfel atunci au avea avem avut aș ca care ce
        cea ceea cei cel cele chiar cine cu cum când cât câte că căci căror cărui da dacă dar de deci decât deja
        despre din dintre doar după ea ei el ele era erau este eu fi fie fiind foarte fost fără iar la le lor
        lui mai mult multe mulți nici niște noi nu nu-i o ori oricare pe pentru prin printre până sa sale sau se
        sine sub sunt sus săi său te toate tot toți tu un una unde unei unele unii unor unui va voi vom vor îi
        îl în înainte încă însă între își și""",
    "nl": """
        aan achter al alle alles als altijd andere anders ben bij bijna daar dan dat de deze die dit doch doen
        door dus echter een eens en enkele er ge geen had hadden heb hebben heeft hem het hier hij hoe hun
        iemand iets ik in is ja je jij jouw jullie kan kon konden kunnen maar me meer men met mij mijn moet
        moeten na naar niet niets nog nu of om omdat onder ons onze ook op over reeds sinds te tegen ten ter
        terwijl toch toen tot tussen uit uw van veel voor vooral waar waarom wanneer want waren was wat we wel
        welk welke werd werden wie wij wil worden wordt zal ze zelf zich zij zijn zo zoals zonder zou zouden
        zowel""",
    "sv": """
        all alla allt att av bara blev bli blir blivit både de dem den denna deras dess dessa det detta dig din
        dina ditt du där därför då efter eftersom ej eller en ett fick från få för före genom ha hade han hans
        har henne hennes hon honom hur här i icke inga ingen inget inom inte jag ju kan kunde man med medan
        mellan men mer mest mig min mina mitt mot mycket måste ni nu när någon något några och också om oss på
        redan samma samt sedan sig sin sina sitt själv ska skall skulle som så sådan sådana till under upp ut
        utan vad var vara varför varit varje vars vem vi vid vilka vilken vilket vår våra än är åt över""",
    "da": """
        ad af alle alt anden andet andre at bare begge blev blive bliver både da de dem den denne dens der deres
        derfor det dets dette dig din dine disse dog du efter ej eller en end er et fik for fordi fra få får før
        gennem ham han hans har havde have hende hendes her hinanden hos hun hvad hvem hver hvilke hvilken
        hvilket hvis hvor hvordan hvorfor hvornår i ifølge igen ikke ind ingen intet jeg jer jo kan kun kunne
        lige man mange med meget mellem men mens mere mest mig min mine mit mod må måtte ned nogen noget nogle
        nok nu når nær og også om op os over på samme sammen samt selv siden sig sin sine sit skal skulle som
        stadig så sådan til ud uden under undtagen var ved vi via vil ville vores være været""",
    "no": """
        å alle alt andre annen annet at av bare begge ble bli blir blitt både da de deg dem den denne der dere
        deres derfor det dette din dine disse ditt du eller en enn er et etter for fordi fra få før gjennom ha
        hadde han hans har her hun hva hvem hver hverandre hvilke hvilken hvilket hvis hvor hvordan hvorfor i
        ifølge igjen ikke ingen inn jeg jo kan kun kunne man mange med meg mellom men mens mer mest min mine
        mitt mot mye må måtte ned noe noen nok nå når og også om opp oss over på samme sammen samt seg selv
        selve siden sin sine sitt skal skulle som så sånn til under ut uten var ved vi via vil ville vår våre
        være vært""",
    "fi": """
        ehkä ei eikä eivät eli emme en enemmän ennen että he heidän heille heitä hän hänelle hänen hänet häntä
        ilman itse ja jo joiden joista joita joka jokin joko jolla jolle jonka jos joskus jossa josta jota jotka
        jotta kai kaikki kanssa keiden ken kenen keskellä koska kuin kuinka kuitenkin kuka kun me meidän meille
        mihin miksi mikä mikäli millainen millä minkä minulla minun minä missä mistä miten mitkä mitä muiden
        muita mukaan mutta muu muut myös ne niiden niin niissä niistä niitä noin nyt näiden näin näitä nämä ole
        olen oli olivat olla olleet ollut on ovat paitsi pitää saa se sekä sen siellä siihen siinä siis siitä
        sillä sitten sitä tai te tuo tähän tämä tämän tässä tästä tätä usein vaan vai vaikka vain vielä voi
        voidaan voivat välillä yli""",
    "pl": """
        a aby ale am ani aż bardzo bez bo by być był była byłby było były ci co coś czy czyli dla dlaczego
        dlatego do dość gdy gdyby gdzie go i ich ile im innego innych iż ja jak jaka jaki jakie jako je jeden
        jednak jego jej jemu jest jestem jeszcze jeśli jeżeli już kiedy kto która które którego której który
        których którym którzy którą ku lub ma mają mi mnie można mu my mój na nad nam nami nas nasz nawet nic
        nich nie niego niej nim niż no o od on ona one oni ono oraz po pod podczas ponieważ poza przed przez
        przy się sobie swoje swój są ta tak taki takie tam te tego tej ten też to tobie tu twój ty tych tylko
        tym u w wam was we wszystkie wszystko wtedy wy z za zawsze ze że żeby""",
    "cs": """
        a aby ale ani aniž asi ač až bez bude budou by byl byla byli bylo být co což další do ho i jak jako jaká
        jakékoli jaký je jeho jejich její jemu jen jenž jestli ještě ji jich jim jiné již jsem jsme jsou k kam
        každý kde kdo kdy když ke kolik kterou která které který kterých kteří ku mají mezi mi mimo mne mnou moc
        mohou moje my má mít může můžete na nad ne nebo neboť nejsou není než nic nich nám námi nás náš ním něco
        o od on ona oni ono pak po pod podle pokud potom pouze pro proto protože proč první před přes při s se
        si sice skrz sobě svou své svých svůj ta tak také takže tam tato tedy ten tento ti to tohle toho tom
        tomto tomu tu tuto ty tyto této tím u už v ve vy vám vás váš více však vše všech všechno z za zda zde ze
        či že""",
    "hu": """
        a abban ahhoz ahogy ahol aki akik akkor alatt amely amelyek amelyet amelynek ami amikor amíg az azok
        azon azonban azt azért be benne bár csak de e egy egyes egyik egyéb el ellen előtt ez ezek ezen ezt
        ezért fel felett ha hanem hiszen hogy hogyan igen ill illetve ilyen is itt kell kellett ki közben között
        közül le legyen lehet lenni lesz lett maga meg mely melyek melyik mert mi mikor milyen minden mindig
        mint mit mivel miért most még nagyon ne nem nincs olyan ott pedig s saját sem sok szemben szerint
        számára tehát több utolsó után vagy vagyis valaki valamint való van vannak vele volna volt voltak által
        általában én és így össze úgy ő ők""",
    "tr": """
        acaba ama ancak arasında artık asla aslında az bana bazı belki ben beni benim beri bile bir biri birkaç
        birçok biz bize bizim bu buna bunda bundan bunlar bunu bunun burada böyle da daha de değil diye diğer
        dolayı eder edilir en etti eğer fakat gibi göre hangi hatta hem henüz hep hepsi her herhangi hiç ile
        ilgili ise için işte kadar karşın kaç kaçtır kendi kendine ki kim kimdir kime kimi mi midir mu mudur mü
        müdür mı mıdır nasıl ne neden nedenle nedir nelerdir nerede nereye neydi niye niçin o olan olarak oldu
        olduğu olduğunu olmak olması olmuştur on ona ondan onlar onların onu onun pek rağmen sadece sanki sen
        seni siz sonra tarafından tüm var ve veya ya yani yerine yine yok zaten çok çünkü ötürü öyle üzere
        şekilde şey şu""",
    "id": """
        ada adalah agar akan akhirnya antara apa apakah atas atau bagaimana bagi bahwa banyak beberapa belum
        bisa bukan dalam dan dapat dari daripada demikian dengan di dia hanya harus ia ini itu jika juga kami
        kamu karena kata kemudian kepada ketika kita lagi lain lebih maka mana masih melalui mereka merupakan
        mungkin oleh pada para pernah saat saja sampai sangat saya sebab sebagai sebelum sebuah secara sedang
        sehingga selain selama seluruh semua seorang seperti serta setelah setiap siapa suatu sudah tapi telah
        tentang terhadap tersebut tetapi tidak untuk yaitu yakni yang""",
    "vi": """
        ai bao bạn bằng bị bởi chiếc cho chúng chưa chỉ các cái còn có cùng cũng cả cần của cứ do giữa gì hay
        hoặc hơn họ khi khác không là làm lên lúc lại mà mình mỗi một ngay nhiều như nhưng những nào này nên nó
        nơi nếu nữa phải qua ra rất rằng rồi sau sẽ sự ta theo thì thế trong trên trước tại từ từng việc và vào
        vì vẫn về với vừa đang điều đâu đây đã đó được đến đều để ở""",
}

_OTHER = {
    "ru": """
        а без бы был была были было быть в вам вас весь во вот все всего всех всё вы где да даже для до его ее
        если есть еще ещё её же за здесь и из или им их к как какая какие каким какой когда кто ли либо между
        меня мне много может можно мой мы на над надо наш не него нее ней нет ни них но ну о об однако он она
        они оно от очень по под после потому почему при про с сам свои своих свой себя со так также такие такой
        там те тем то того тоже той только том тот ты у уже хотя чего чей чем через что чтобы чье эта эти этих
        это этого этой этом этот эту я""",
    "uk": """
        а або адже але без би був була були було бути в вам вас вже ви вона вони воно все всі всіх від він де
        для до з за зі й його кожен коли крім мене ми може можна моя між на навіть над нас не немає ним них но
        ні об один однак от па по поки при про проти під після та так такий також там те ти тим то того тоді той
        тому тільки у усі хоча хто це цей цього цьому цю ці цієї через чи чим ще що щоб щодо як яка яке який
        яких якого якщо які є і із інших інші їх її""",
    "bg": """
        а ако ала бе без беше би бил била били било в вас ви вие все всеки всички във го да дали до докато дори
        е един една едно за затова защо защото и из или им има имат й каза как каква какво както какъв като кога
        когато което които кой който колко която къде към ли ме между ми много може мой моя му на над най не
        него нещо ни ние нито но о обаче освен от още по под поради преди през при са само се след сме според
        сте съм със също тази така там те тези то това тогава този ту тук тя у че често чрез ще щом я""",
    "el": """
        ένα έναν ένας έτσι έχει έχουν ή ήταν ίδια ίδιο ίσως αλλά αν ανά αντί απο από αυτά αυτές αυτή αυτοί αυτού
        αυτούς αυτό αυτός αυτών αφού για γιατί δε δεν δια διότι εάν είναι είχαν είχε εγώ εδώ εκεί εμείς ενώ εξ
        επί επίσης εσείς η θα κάθε κάποια κάποιο κάτι και κατά κι λοιπόν μέσα μέχρι μία μα με μετά μεταξύ μη μην
        μια μιας μου μπορεί μόνο να ο οι οποία οποίες οποίο οποίοι οποίος οποίου ούτε παρά περί πιο ποια ποιες
        ποιο ποιοι ποιος που πού πρέπει πριν προς πως πόσα πόσο πότε πώς σαν σας σε στα στη στην στις στο στον
        στους στων συν τα τη την της τι τις το τον του τους των τότε υπό ως όμως όποια όπου όπως όσο όταν ότι
        όχι ώστε""",
    "ar": """
        أم أما أن أنا أنت أنه أنها أو أي أيضا أين إذ إذا إلا إلى إن التي الذي الذين اللذان بأن بعد بعض بل به بها
        بين تلك تم ثم حتى حول حيث خلال دون ذلك سوف ضد عبر عدد عدم على عليه عليها عن عند عندما غير فإن فقد فقط في
        فيه فيها قبل قد كان كانت كل كم كما كيف لأن لا لدى لقد لكن للتي لم لماذا لن له لها ليس ليست ما ماذا متى
        مثل مع من منذ منه منها نحن نحو هؤلاء هذا هذه هل هم هنا هناك هو هي و وأن وقد وكان وكانت ولا ولم وما ومن
        وهو وهي يكون يمكن""",
    "fa": """
        آن آنها از است اما او اگر ای این اینکه با باید بر برای بسیار به بود بودند بین تا تر تمام جز حتی خواهد
        خود در دیگر را روی زیر سپس شد شده شما شود ما مانند من می نه نیز نیست ها هر هست هستند هم همه همین هنوز
        هیچ و وی پس پیش چرا چند چه چون کجا کرد کردن کرده کند کنند کنید که گفت یا یک یکی""",
    "he": """
        אבל או אולי אותה אותו אותם אז אחד אחר אחרי אחת איך אין איפה אל אלא אלה אם אנחנו אני אף אפשר את אתה אתם
        בגלל בה בהם בו בין בלי גם דרך הוא הזאת הזה היא היה היו הייתה היתה הם הן וגם והוא ולא זאת זה זו יותר יש
        כאשר כבר כדי כי כך כל כמה כמו כן לא לאחר לה להם לו ליד למה לפני מאד מאוד מה מי ממנו מן מעל מתי נגד עד
        עוד על עם עצמו פה רק ש של שלה שלהם שלו שלי שם תחת""",
    "hi": """
        अगर अन्य अपना अपनी अपने अब आदि आप इन इनके इन्हें इस इसका इसकी इसके इसमें इसे उन उनका उनकी उनके उन्हें
        उन्होंने उस उसका उसकी उसके उसे एक एवं ऐसे और कई कब कभी कर करता करते करना करने करें कहाँ कहां का कि किन
        किया किस किसी की कुछ के को कोई कौन कौनसा क्या क्यों गई गए गया चाहिए जब जहाँ जहां जा जाता जाती जाते जाने
        जिन जिनके जिस जिसका जिसके जिसमें जिसे जैसा जैसे जो तक तथा तब तरह तो था थी थे दिया दो द्वारा नहीं ना ने
        पर परंतु फिर बहुत बाद बारे बीच भी मगर में मैं यदि यह यहाँ यहां या ये रहा रही रहे लिए लेकिन व वह वहाँ
        वहां वाला वाली वाले वे सकता सकते सबसे सभी साथ से हम ही हुआ हुई हुए है हैं हो होता होती होते होना होने""",
}


@lru_cache(maxsize=1)
def function_words() -> dict[str, frozenset[str]]:
    """Return the function words of every language that has a list."""
    return {language: frozenset(words.split()) for language, words in (_LATIN | _OTHER).items()}
