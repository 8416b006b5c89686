/**
 * Questions to four businesses, each with the title of the piece of knowledge that answers it, or
 * null if none does.
 */
export interface Base {
  readonly name: string;
  readonly knowledge: readonly { readonly title: string; readonly text: string }[];
  readonly questions: readonly (readonly [asked: string, title: string | null])[];
}

const dentist: Base = {
  name: "dentist",
  knowledge: [
    {
      title: "Opening hours",
      text: "We are open Monday to Thursday from 8 am to 6 pm and on Friday from 8 am to 2 pm. We are closed on weekends and public holidays.",
    },
    {
      title: "Address and parking",
      text: "You find us at 14 Mill Lane, second floor. There is a lift. Patients park free of charge in the yard behind the building.",
    },
    {
      title: "New patients",
      text: "We gladly take new patients. Please come ten minutes early to fill in the registration form, and bring your insurance card.",
    },
    {
      title: "Prices",
      text: "A check-up costs $60, a professional cleaning $95, a filling from $120 and teeth whitening $350.",
    },
    {
      title: "Insurance",
      text: "We work with Delta Dental, Cigna and Aetna and send the claim for you. Without insurance you can pay in three instalments.",
    },
    {
      title: "Toothache and emergencies",
      text: "If you are in pain, call us before 9 am and we will see you the same day. At night and on weekends call the dental emergency line at 555-0199.",
    },
    {
      title: "Cancelling an appointment",
      text: "You can cancel or move an appointment free of charge up to 24 hours before. Later than that we charge $40.",
    },
    {
      title: "Children",
      text: "Children are welcome from the first tooth on. Dr. Ames takes time for anxious kids, and there is a play corner in the waiting room.",
    },
    {
      title: "After an extraction",
      text: "Don't rinse, smoke or drink alcohol for 24 hours after a tooth was pulled. Cool your cheek. Some bleeding is normal; call us if it doesn't stop.",
    },
  ],
  questions: [
    ["what time do you open tomorrow", "Opening hours"],
    ["Are you guys open on Saturdays?", "Opening hours"],
    ["Until when can I come by on friday?", "Opening hours"],
    ["Where exactly are you located?", "Address and parking"],
    ["is there somewhere to park near you", "Address and parking"],
    ["Do you have a lift? I'm on crutches.", "Address and parking"],
    ["Hi, I just moved here. Are you accepting new patients?", "New patients"],
    ["how much is a cleaning", "Prices"],
    ["What do you charge for teeth whitening?", "Prices"],
    ["price of a filling pls", "Prices"],
    ["Do you take Cigna?", "Insurance"],
    ["can I pay in instalments", "Insurance"],
    ["My tooth hurts so bad, can you see me today?", "Toothache and emergencies"],
    ["who do I call at night in an emergency", "Toothache and emergencies"],
    ["I need to cancel my appointment, does that cost anything?", "Cancelling an appointment"],
    ["whats the fee for late cancellation", "Cancelling an appointment"],
    ["Do you treat small kids?", "Children"],
    ["my daughter is anxious, does someone take time for children", "Children"],
    ["tooth was pulled this morning, may I smoke?", "After an extraction"],
    ["how long does bleeding last after the extraction", "After an extraction"],
    ["Do you sell electric toothbrushes?", null],
    ["Can you recommend a good orthodontist for braces?", null],
    ["Do you have any job vacancies for hygienists?", null],
    ["is the doctor married", null],
    ["Can I bring my dog?", null],
  ],
};

const shop: Base = {
  name: "shop",
  knowledge: [
    {
      title: "Delivery times",
      text: "Orders placed before noon leave our warehouse the same day. Standard delivery takes 3 to 5 working days, express 1 to 2.",
    },
    {
      title: "Shipping costs",
      text: "Standard shipping is $4.90 and free for orders over $50. Express is $12.",
    },
    {
      title: "International orders",
      text: "We ship to Canada, Mexico and all countries of the European Union. Customs duties are paid by the recipient.",
    },
    {
      title: "Returns",
      text: "You have 30 days to send back anything unworn with its tags. Print the label from your account; the return is free.",
    },
    {
      title: "Refunds",
      text: "The money goes back to the card you paid with within five days after your parcel reached us.",
    },
    {
      title: "Damaged or wrong items",
      text: "Send us a photo of the item within a week and we will replace it at no cost. You need not send the broken one back.",
    },
    {
      title: "Tracking an order",
      text: "As soon as the courier has your parcel you get an email with a tracking link. It can take a day until the link shows something.",
    },
    {
      title: "Payment methods",
      text: "We accept Visa, Mastercard, PayPal, Apple Pay and gift cards. We don't accept cash on delivery.",
    },
    {
      title: "Sizes",
      text: "Our shoes run half a size small. The size guide on every product page has the measurements in centimetres and inches.",
    },
    {
      title: "Changing or cancelling an order",
      text: "You can change the address or cancel within one hour after ordering, in your account under Orders.",
    },
    {
      title: "Gift cards",
      text: "Gift cards come by email, in any amount from $10 to $500, and are good for three years.",
    },
    {
      title: "Discounts",
      text: "Students get 10 % off with a valid student card. Codes can't be combined.",
    },
  ],
  questions: [
    ["how long does delivery take", "Delivery times"],
    ["When will it leave the warehouse if I order now?", "Delivery times"],
    ["is shipping free?", "Shipping costs"],
    ["How much is express shipping?", "Shipping costs"],
    ["do u ship to canada", "International orders"],
    ["Do I have to pay customs?", "International orders"],
    ["I want to send back a pair of boots, how do I do that?", "Returns"],
    ["how many days do i have to return something", "Returns"],
    ["where do I find the return label", "Returns"],
    ["When do I get my money back", "Refunds"],
    ["still waiting for my refund!!", "Refunds"],
    ["My mug arrived broken :(", "Damaged or wrong items"],
    ["you sent me the wrong item", "Damaged or wrong items"],
    ["where is my parcel?", "Tracking an order"],
    ["the tracking link doesnt work", "Tracking an order"],
    ["Can I pay with paypal", "Payment methods"],
    ["do you take american express or visa", "Payment methods"],
    ["Do your shoes run small?", "Sizes"],
    ["what size should I get, any measurments?", "Sizes"],
    ["I typed the wrong address, can I still change it?", "Changing or cancelling an order"],
    ["pls cancel my order from 5 min ago", "Changing or cancelling an order"],
    ["for how many years is a gift card good", "Gift cards"],
    ["is there a student discount", "Discounts"],
    ["Can I combine two discount codes?", "Discounts"],
    ["Do you have a store in Chicago?", null],
    ["Are your leather jackets made from vegan leather?", null],
    ["Who is your CEO?", null],
    ["Can you hem trousers?", null],
    ["tell me a joke", null],
  ],
};

const restaurant: Base = {
  name: "restaurant",
  knowledge: [
    {
      title: "Hours",
      text: "The kitchen is open from 5 pm to 10 pm, Tuesday to Sunday. We rest on Mondays. Brunch on Sundays from 10 am.",
    },
    {
      title: "Reservations",
      text: "Tables for up to eight can be booked by text message. We hold a table for 15 minutes.",
    },
    {
      title: "Large groups",
      text: "For more than eight guests we serve a set menu at $45 a person and ask for a deposit of $100.",
    },
    {
      title: "Vegetarian and vegan dishes",
      text: "A third of the menu is vegetarian, and the chef makes a vegan tasting menu if you tell us a day ahead.",
    },
    {
      title: "Allergies",
      text: "All dishes list their allergens. Pasta can be had gluten-free. There are nuts in our kitchen, so traces can't be excluded.",
    },
    { title: "Dogs", text: "Dogs are welcome on the terrace, and get a bowl of water." },
    {
      title: "Getting here",
      text: "We are at 3 Harbour Square, two minutes from the tram stop Old Port. There is a public garage across the street.",
    },
    { title: "Takeaway", text: "Order takeaway by phone until 9 pm. We don't deliver." },
    {
      title: "Birthdays",
      text: "Tell us a day before and we bake a birthday cake for $30. You may also bring your own cake.",
    },
    { title: "Children", text: "We have high chairs, a children's menu and crayons." },
    {
      title: "Wine",
      text: "You may bring your own bottle; corkage is $15. Our list has 80 wines, a dozen of them by the glass.",
    },
    { title: "Dress code", text: "Come as you are. There is no dress code." },
  ],
  questions: [
    ["are you open mondays?", "Hours"],
    ["how late is the kitchen open", "Hours"],
    ["When is brunch?", "Hours"],
    ["Could I book a table for 4 tonight?", "Reservations"],
    ["how long do you hold the table, we're running late", "Reservations"],
    ["We are 12 people, is there a set menu?", "Large groups"],
    ["do I need to leave a deposit for a large group", "Large groups"],
    ["Any vegan options?", "Vegetarian and vegan dishes"],
    ["what do you have for vegetarians", "Vegetarian and vegan dishes"],
    ["My wife is coeliac, is there gluten free pasta?", "Allergies"],
    ["I'm allergic to nuts", "Allergies"],
    ["Can I bring my puppy or are dogs forbidden?", "Dogs"],
    ["is my dog allowed inside or on the terrace", "Dogs"],
    ["how do i get to you by tram", "Getting here"],
    ["Is there a garage nearby?", "Getting here"],
    ["whats your adress", "Getting here"],
    ["do you deliver", "Takeaway"],
    ["Can I order takeout, and until when?", "Takeaway"],
    ["it's my mum's birthday, could you make a cake", "Birthdays"],
    ["do you have a high chair for our baby?", "Children"],
    ["is there a kids menu", "Children"],
    ["what is the corkage fee", "Wine"],
    ["Can we bring our own wine?", "Wine"],
    ["what should I wear, is there a dress code?", "Dress code"],
    ["Do you have live music on weekends?", null],
    ["Are you hiring waiters?", null],
    ["Is the chef Italian?", null],
    ["Do you rent out rooms for overnight stays?", null],
    ["I lost my umbrella at your place yesterday", null],
    ["What's the weather like", null],
  ],
};

const practice: Base = {
  name: "Praxis",
  knowledge: [
    {
      title: "Öffnungszeiten",
      text: "Wir haben Montag bis Freitag von 7 bis 19 Uhr geöffnet, samstags von 8 bis 12 Uhr.",
    },
    {
      title: "Parkplätze",
      text: "Hinter dem Haus gibt es kostenlose Parkplätze, und für Fahrräder einen Ständer am Eingang.",
    },
    {
      title: "Preise für Selbstzahler",
      text: "Eine Massage von 30 Minuten kostet 42 Euro, Krankengymnastik 38 Euro.",
    },
    {
      title: "Rezept",
      text: "Bitte bringen Sie das Rezept Ihres Arztes zum ersten Termin mit. Es gilt 28 Tage.",
    },
    {
      title: "Termin absagen",
      text: "Termine können bis 24 Stunden vorher kostenlos abgesagt oder verschoben werden.",
    },
  ],
  questions: [
    ["Wann haben Sie geöffnet?", "Öffnungszeiten"],
    ["Sind Sie samstags da?", "Öffnungszeiten"],
    ["wo kann ich parken", "Parkplätze"],
    ["Was kostet eine Massage?", "Preise für Selbstzahler"],
    ["Brauche ich ein Rezept vom Arzt?", "Rezept"],
    ["wie lange gilt das Rezept", "Rezept"],
    ["Ich möchte meinen Termin verschieben", "Termin absagen"],
    ["Haben Sie auch eine Sauna?", null],
    ["Verkaufen Sie Gutscheine?", null],
  ],
};

export const bases: readonly Base[] = [dentist, shop, restaurant, practice];
