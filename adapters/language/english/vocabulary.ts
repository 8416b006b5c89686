/**
 * Words and phrases that customers write to businesses of any kind. All are in lower case, without
 * accents and apostrophes. Besides English there are the commonest words of other languages.
 */

/** Words that carry no topic. */
export const stopWords: ReadonlySet<string> = new Set(
  [
    // English, with the words that people put around a question.
    "a about accept after again all already also always am an and another any anybody anyone",
    "anything anyway are as ask asked asking at be because been before being both but by can",
    "cannot cant could couldnt did didnt do does doesnt doing done dont each either else ever",
    "every few first for from further get gets getting give given go going gonna got had has hasnt",
    "have havent having he hello help her here hers hey hi him his how however i id if ill im in",
    "into is isnt it its ive just kind kindly know let lets like little long look looking lot made",
    "make many may maybe me mean might more most much must my need needs never new no nor not now",
    "of off offer ok okay on once one only or other our ours out over own people plan please pls",
    "possible possibly provide quick question really right said same say see sell shall she should",
    "since so some somebody someone something still such sure take takes tell than thank thanks",
    "that thats the their them then there theres these they thing things think this those through",
    "to today too under until up us use used very want wanted wants was wasnt way we well were",
    "what whats when where which while who whom whose why will with without wonder wondering wont",
    "would wouldnt yes yet you your youre yours actually back bad come coming exactly folks good",
    "great guys hopefully idea last later moment morning time near nearby nice own recently",
    "somewhere somehow soon tomorrow tonight try trying yesterday",
    // German
    "aber als am an auch auf aus bei bin bitte da das dass dein dem den der des die dies diese",
    "doch ein eine einem einen einer er es fur gibt habe haben hallo hat ich ihr ihre ihren ihnen",
    "im in ist ja kann kannst konnen konnte konnten man mein meine meinen meinem meiner mich mir",
    "mit mochte moglich muss nach nein nicht noch nur oder sich sie sind und uns unser viel vom",
    "von vor wann war warum was welche welcher welches wenn wer werden wie wieviel wir wird wo zu",
    "zum zur uber",
    // French
    "ai au aux avec avez avoir bonjour ce cela ces cet cette combien comment dans de des donc du",
    "elle en est et etes etre il ils je la le les leur lui ma mais me merci mes moi mon ne nos",
    "notre nous on ou par pas peut peux plus pour pouvez puis quand que quel quelle quelles quels",
    "qui sa sans se ses si son sont sur ta te tu un une vos votre vous y",
    // Spanish, Italian, Portuguese, Dutch
    "al algun alguna como con cual cuales cuando cuanto cuesta de del donde el ella ellos en eres",
    "es esta estan este gracias hay hola la las lo los me mi mis muy no nos o para pero por porque",
    "puede puedo que quiero se ser si sin son su sus te tiene tienen un una y ya che ci come cosa",
    "dei del della di dove e gli grazie ho il io la le mio non per piu posso quando quanto se si",
    "sono un uno vi ao as com da do dos e em eu meu na nao no nos o os ou para por posso qual",
    "quando quanto se sem tem um uma voce voces aan bent bij dat de deze die dit een en er heb",
    "hebben het hoe ik is jij jullie kan kunnen me met mij mijn naar niet of om ook op te uw van",
    "voor waar wanneer wat wij zijn zijn",
  ].flatMap((line) => line.split(" ")),
);

/** Words with about the same meaning in a question to a business. */
export const synonyms: readonly (readonly string[])[] = [
  "open hours close shut oeffnungszeiten offnungszeiten geoffnet offnen horaires ouvert ouvrez",
  "open horario horarios abren abierto apertura aperti orari openingstijden",
  "price cost fee charge rate tariff preis kosten kostet prix tarif coute precio prezzo preco",
  "address location located directions adresse standort direccion ubicacion indirizzo adres",
  "phone telephone telefon telefono",
  "pay payment cash visa mastercard paypal bezahlen zahlung zahlen payer paiement",
  "book reserve reservation reservieren buchen reserver reservar reserva prenotare prenotazione",
  "appointment visit checkup slot termin rendezvous afspraak appuntamento",
  "reschedule rebook postpone move change shift switch verschieben verlegen deplacer reprogramar",
  "cancel stornieren absagen annuler cancelar anular annuleren",
  "refund reimburse ruckerstattung erstattung remboursement reembolso rimborso",
  "return exchange swap rucksendung zuruckgeben umtauschen retour retourner devolver " +
    "devolucion reso",
  "deliver delivery ship shipping shipment courier postage lieferung liefern versand " +
    "livraison livrez",
  "deliver envio entrega enviar spedizione consegna bezorgen",
  "order parcel package purchase bestellung paket commande colis pedido paquete ordine",
  "track tracking status whereabouts",
  "child children kid baby toddler kinder kind enfant nino bambini",
  "dog puppy pet animal cat hund hunde haustier chien perro",
  "park parking parken parkplatz parkplatze garer stationnement aparcar aparcamiento parcheggio",
  "allergy allergic allergen intolerance intolerant coeliac celiac",
  "vegetarian vegan veggie meatless vegetarisch vegetarien",
  "takeaway takeout carryout",
  "wifi internet wlan",
  "invoice receipt rechnung facture factura fattura",
  "damage broken defective faulty cracked smashed kaputt casse roto",
  "guarantee warranty garantie garantia",
  "discount voucher coupon promo rabatt gutschein remise descuento",
  "emergency urgent pain ache toothache hurts notfall schmerzen urgence urgencia",
  "staff employee team driver waiter receptionist",
  "complain complaint unhappy unacceptable disappointed terrible horrible awful disgusting " +
    "rude worst",
  "complain beschwerde beschweren reklamation plainte reclamation queja reclamo",
  "insurance insured versicherung krankenkasse assurance seguro",
  "size fit measurement groesse grosse taille talla",
  "weekend saturday sunday wochenende samstag sonntag",
  "wheelchair accessible stepfree disabled barrierefrei rollstuhl",
  "job vacancy career hiring stelle emploi trabajo",
  "password login account passwort konto compte cuenta",
].map((words) => words.split(" "));

/**
 * Phrases with the meaning of one or more words. No pattern has nested repetition, so that each
 * takes time in proportion to the text.
 */
export const phrases: readonly { readonly pattern: RegExp; readonly means: string }[] = [
  {
    pattern:
      /\b(?:how much|what do you charge|was kostet|combien coute|cuanto cuesta|quanto costa)\b/,
    means: "price",
  },
  {
    pattern: new RegExp(
      String.raw`\b(?:what time|how late|how early|when do you|until when|till when|` +
        String.raw`a que hora|quelle heure|wie lange)\b`,
    ),
    means: "hours",
  },
  {
    pattern: /\b(?:where are you|where do i find you|find you|get to you|get there|your place)\b/,
    means: "address",
  },
  {
    pattern: /\b(?:wo sind sie|wo finde ich|ou etes.vous|donde estan|dove siete)\b/,
    means: "address",
  },
  { pattern: /\bmoney back\b/, means: "refund" },
  {
    pattern: /\b(?:send|sending|sent|bring|give|take) (?:it |them |this |these |something )?back\b/,
    means: "return",
  },
  {
    pattern: /\b(?:another|different|other|later|earlier|new) (?:day|time|date|slot)\b/,
    means: "reschedule appointment",
  },
  {
    pattern: /\b(?:can ?not|cant|wont be able to) (?:make|come|attend)\b/,
    means: "reschedule appointment",
  },
  { pattern: /\b(?:call off|drop out)\b/, means: "cancel" },
  { pattern: /\bwhere(?:s| is| are)? (?:my|our|the)\b/, means: "track" },
  {
    pattern: /\b(?:credit|debit) cards?\b|\bby card\b|\bapple pay\b|\bcontactless\b/,
    means: "payment",
  },
  { pattern: /\bwi.fi\b/, means: "wifi" },
  { pattern: /\be.mail\b/, means: "email" },
  { pattern: /\bcheck.up\b/, means: "checkup" },
  { pattern: /\bstep.free\b/, means: "stepfree" },
  { pattern: /\bgluten\b/, means: "allergy" },
];

const amounts = [
  String.raw`\d+|an?|one|two|three|four|five|six|few|several|couple of`,
  "viele|zwei|drei",
].join("|");

/** `24 hours`, `a few hours`: a duration, not a question about opening hours. */
export const durations = new RegExp(String.raw`\b(${amounts}) (?:hours?|hrs|stunden?)\b`, "g");
