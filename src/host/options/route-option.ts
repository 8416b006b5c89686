/** The check of the routes that the host application passes to the engine. */
import type * as z from "zod";
import {
  channels,
  choiceOption,
  listOption,
  option,
  optionsObject,
  quoted,
} from "../../kernel/index.ts";
import type { Route } from "../../ports/index.ts";

/**
 * A route whose transports are among `names`. Without names, because a transport is invalid, every
 * name is accepted.
 */
export function route(names: readonly string[]): z.ZodType<Route, Route> {
  const [example = "name"] = names;
  const transport = option<string>(
    `the name of one of the transports (${names.map(quoted).join(", ")})`,
    (name) => typeof name === "string" && (names.length === 0 || names.includes(name)),
    { isQuoted: true },
  );
  return optionsObject(
    {
      from: someOf("addresses of senders", "one address of a sender", address, 1_000).optional(),
      channels: someOf(
        "channels",
        "one channel",
        choiceOption(...channels),
        channels.length,
      ).optional(),
      to: someOf("beginnings of phone numbers", "one beginning", prefix, 1_000).optional(),
      transports: someOf("names of transports", "one name of a transport", transport, 5),
      fallBackAfter: distinctList(
        "outcomes",
        choiceOption("ambiguous", "undelivered"),
        2,
      ).optional(),
    },
    `a route, such as { transports: [${quoted(example)}] }`,
  );
}

const address = option<string>(
  "the address of a sender",
  (given) => typeof given === "string" && given !== "",
  { isQuoted: true },
);

const prefix = option<string>(
  'the beginning of a phone number, such as "+44"',
  (given) => typeof given === "string" && /^\+\d{0,15}$/.test(given),
  { isQuoted: true },
);

/** A list of different values, at least one. `least` completes the sentence "at least …". */
const someOf = <T extends string>(
  plural: string,
  least: string,
  item: z.ZodType<T, T>,
  max: number,
) =>
  distinctList(plural, item, max).superRefine((given, context) => {
    if (given.length > 0) return;
    const params = { got: "an empty list" };
    context.addIssue({ code: "custom", message: `at least ${least}`, params });
  });

const distinctList = <T extends string>(plural: string, item: z.ZodType<T, T>, max: number) =>
  listOption(plural, item, max).superRefine((given, context) => {
    const twice = given.find((each, i) => given.indexOf(each) !== i);
    if (twice === undefined) return;
    const params = { got: `${quoted(twice)} twice` };
    context.addIssue({ code: "custom", message: `different ${plural}`, params });
  });
