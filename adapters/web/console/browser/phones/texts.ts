import type { Texts } from "../../../shared/browser/index.ts";

/** The texts of the phones on screen. */
export const phoneTexts = {
  phones: "Phones",
  phonesAbout:
    "Handsets of your sandbox. Text as a phone, and watch what your account sends to it.",
  phonesLive: "Phones are for the sandbox",
  phonesLiveHint: "This session shows live data. Sign in to the sandbox to use phones on screen.",
  phonesNone: "No phones on screen",
  phonesNoneHint: "Add a test number, or any other number.",
  phoneAdd: "Add phone",
  phoneAddThis: "Add {number}",
  phoneAddHint: "Or type any number in the form +15551234567.",
  phoneNumber: "Phone number",
  phoneAnyNumber: "any number: delivered",
  phoneOf: "Phone {number}",
  phoneClose: "Remove the phone {number}",
  phoneMessages: "Messages on the phone",
  phoneEmpty: "No messages. Write one below, from the phone or from your account.",
  phoneTexted: "Texted",
  phoneText: "Text as {number}",
  phoneTextHint: "Text as this phone",
  phoneSendTo: "Send to {number}",
  phoneSendToHint: "Send to this phone",
  phoneSide: "Who writes",
  phoneSideFrom: "From",
  phoneSidePhone: "Phone",
  phoneSideAccount: "Account",
  phoneStopHint: "Opt out: texts STOP as this phone",
  testNumbers: "Test numbers",
} satisfies Texts;
