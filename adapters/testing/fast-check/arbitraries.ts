import type { CreateContact, SendMessage } from "../../entry.ts";
import type { ScriptedReceipt } from "../carrier/script.ts";
import { faultNames, highestRates, type Fault, type FaultRates } from "../world/faults.ts";
import {
  checkFastCheck,
  generatorsOf,
  type Arbitrary,
  type FastCheck,
  type Generators,
} from "./types.ts";

/** What `arbitraries(fc)` returns. Each shrinks to something short and plain. */
export interface Arbitraries {
  /** A phone number of a contact, in E.164 form. One of few, so that numbers recur. */
  readonly phone: Arbitrary<string>;
  /** A text in the GSM-7 alphabet, also with characters that need two units, such as `€`. */
  readonly gsmText: Arbitrary<string>;
  /** A text that is sent as UCS-2: other scripts, emoji, combining characters. */
  readonly ucsText: Arbitrary<string>;
  /** A text at the edge of one segment or several: one unit less, exactly full, one more. */
  readonly edgeText: Arbitrary<string>;
  /** A text of any of these kinds. */
  readonly text: Arbitrary<string>;
  /** The input of `messages.send`: a text to a phone. */
  readonly message: Arbitrary<SendMessage>;
  /** The input of `contacts.create`: a name and a phone. */
  readonly contact: Arbitrary<CreateContact>;
  /** The receipts of a message, in any order and number. */
  readonly receipts: Arbitrary<ScriptedReceipt[]>;
  /** The option `faults` of a world. Shrinks to fewer faults, so that a story has what it needs. */
  readonly faults: Arbitrary<Partial<FaultRates>>;
}

const phones = ["+15005550101", "+15005550102", "+15005550103", "+15005550104"];
const gsmPieces = ["a", "Hello", " ", "7", "é", "@", "Ω", "\n", "€", "[", "^", "STOP"];
const ucsPieces = ["ж", "漢字", "مرحبا", "🙂", "👩‍👩‍👧", "é", "ç", "’", "a", " "];
const statuses = ["delivered", "sent", "undelivered", "read"] as const;
const names = ["Ada", "Björn", "李小龙", "O'Neill", "Åsa-Maria von Ö"];

/** Units of one segment and of each of several, and characters of one and of two units. */
const alphabets = [
  { one: 160, several: 153, unit: "a", pair: "€" },
  { one: 70, several: 67, unit: "ж", pair: "🙂" },
] as const;

/** How many pieces a text has at most. */
const maxPieces = 40;
/** How long a receipt takes at most, in milliseconds. */
const maxReceiptMs = 60_000;

/**
 * Returns arbitraries for your properties, made with your own fast-check: `arbitraries(fc)`.
 * @throws TidingsError `invalid_option` when `fc` is not fast-check
 */
export function arbitraries(fc: FastCheck): Arbitraries {
  checkFastCheck("arbitraries", fc);
  const { oneOf, list, pair, integer } = generatorsOf(fc);
  const phone = oneOf(phones);
  const pieces = (from: readonly string[]): Arbitrary<string> =>
    list(oneOf(from), 1, maxPieces).map((parts) => parts.join(""));
  const gsmText = pieces(gsmPieces).filter((text) => text.trim() !== "");
  const ucsText = pieces(ucsPieces).map((text) => `ж${text}`);
  const edgeText = oneOf(edgeTexts());
  const kinds = [gsmText, ucsText, edgeText];
  const text = integer(0, kinds.length - 1).chain((kind) => kinds[kind] ?? gsmText);
  return {
    phone,
    gsmText,
    ucsText,
    edgeText,
    text,
    message: pair(phone, text).map(([to, body]): SendMessage => ({ to, body })),
    contact: pair(oneOf(names), phone).map(([name, number]): CreateContact => ({
      name,
      phone: number,
    })),
    receipts: list(receipt(generatorsOf(fc)), 0, 5),
    faults: faults(generatorsOf(fc)),
  };
}

/** Texts of one to three segments that are one unit short, full, and one unit too long. */
function edgeTexts(): readonly string[] {
  return alphabets.flatMap(({ one, several, unit, pair }) =>
    [one, 2 * several, 3 * several].flatMap((units) => [
      ...[-1, 0, 1].map((more) => unit.repeat(units + more)),
      // The pair lies across the edge.
      `${unit.repeat(units - 1)}${pair}`,
    ]),
  );
}

function receipt({ integer, oneOf, pair }: Generators): Arbitrary<ScriptedReceipt> {
  const time = integer(0, maxReceiptMs);
  return pair(pair(oneOf(statuses), time), time).map(([[status, afterMs], arrivesAfterMs]) => ({
    status,
    afterMs,
    arrivesAfterMs,
  }));
}

/** Some faults, at up to the highest rate that makes sense. */
function faults({ integer, oneOf, pair, list }: Generators): Arbitrary<Partial<FaultRates>> {
  const chosen = list(pair(oneOf(faultNames), integer(1, 100)), 0, faultNames.length);
  return chosen.map((each) =>
    Object.fromEntries(
      each.map(([name, percent]): [Fault, number] => [name, (highestRates[name] * percent) / 100]),
    ),
  );
}
