/** The options of pages, and what `authorize` returns. */
import {
  choiceOption,
  functionOption,
  isId,
  listOption,
  name,
  option,
  optionsObject,
  originOption,
  parseOptions,
  webUrl,
  type AccountId,
  type Mode,
} from "../../../../src/kernel/index.ts";
import {
  keyScopes,
  type KeyScope,
  type OperatorProfile,
} from "../../../../src/operations/index.ts";
import { errorFacts } from "../../../../src/ports/index.ts";

/** A request of a page, as `authorize` sees it. */
export interface PageRequest {
  /** The HTTP method, in upper case. */
  readonly method: string;
  /** Path and query as the client sent them. */
  readonly url: string;
  /** The headers by lower-case name, such as `cookie`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The IP address at the other end of the connection. Undefined if it is unknown. */
  readonly remoteAddress: string | undefined;
  /**
   * The request of your framework: Express's request, Koa's context, Node's message or the
   * `Request` of `fetch`. An open stream calls `authorize` again with the request that opened it,
   * so a session that middleware has added to the request may be out of date.
   */
  readonly original: unknown;
}

/** A person who may use the page, and the person's rights. */
export interface PageAccess {
  /** The account whose data the page shows. */
  readonly account_id: string;
  /** Whether the page shows sandbox or live data. */
  readonly mode: Mode;
  /**
   * The person. Replies and notes name the id as their author. The id must stay the same while the
   * person is signed in: the page takes another id for another person.
   */
  readonly operator: OperatorProfile;
  /** What the person may do, in the scopes of API keys. The page hides the rest. */
  readonly may: readonly KeyScope[];
}

/**
 * Decides who may use a page. It is called on every request of the page, and every 30 seconds for
 * an open stream or a body that is still arriving. It returns null if nobody is signed in, or if
 * the person may not use the page. If it takes longer than 10 seconds, the request fails or the
 * stream ends.
 */
export type Authorize = (request: PageRequest) => PageAccess | null | Promise<PageAccess | null>;

/** The texts of a page, by key. A text that depends on a number has a form for each plural rule. */
export type PageTexts = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** Options of a page. */
export interface PageOptions {
  /**
   * Decides who may use the page. Without it, the page shows the sandbox of the default account, to
   * requests from this machine alone, after a sign-in with `token`.
   */
  readonly authorize?: Authorize | undefined;
  /**
   * Who may show the page in a frame: origins such as `https://shop.example`, or `self`. At most
   * 20.
   * @default []
   */
  readonly frameAncestors?: readonly string[] | undefined;
  /**
   * Other origins from which pictures of operators may be loaded, besides the page's own. At most
   * 20.
   * @default []
   */
  readonly avatarOrigins?: readonly string[] | undefined;
  /**
   * Texts that replace those of the page, by key. `dist/web/inbox/texts.json` and
   * `dist/web/console/texts.json` in the package have all keys with their English texts.
   */
  readonly texts?: PageTexts | undefined;
  /** The language of dates and numbers, such as `de-CH`. By default the browser's. */
  readonly locale?: string | undefined;
}

const isText = (given: unknown): boolean => typeof given === "string";

const textsOption = option<PageTexts>(
  "an object with a text, or the plural forms of a text, for each key",
  (given) =>
    typeof given === "object" &&
    given !== null &&
    Object.values(given).every(
      (text: unknown) =>
        isText(text) ||
        (typeof text === "object" && text !== null && Object.values(text).every(isText)),
    ),
);

const ancestorOption = option<string>(
  '"self", or an origin such as "https://shop.example"',
  (given) => given === "self" || originOption.safeParse(given).success,
  { isQuoted: true },
);

function isLocale(given: unknown): boolean {
  try {
    return typeof given === "string" && Intl.getCanonicalLocales(given).length === 1;
  } catch {
    return false;
  }
}

const optionsSchema = optionsObject({
  authorize: functionOption<Authorize>("a function that returns who may use the page").optional(),
  frameAncestors: listOption("origins", ancestorOption, 20).default(() => []),
  avatarOrigins: listOption("origins", originOption, 20).default(() => []),
  texts: textsOption.optional(),
  locale: option<string>('a language, such as "de-CH"', isLocale, { isQuoted: true }).optional(),
});

/** Checked options. */
export interface PageSettings {
  readonly authorize?: Authorize | undefined;
  readonly frameAncestors: readonly string[];
  readonly avatarOrigins: readonly string[];
  readonly texts?: PageTexts | undefined;
  readonly locale?: string | undefined;
}

/** @throws TidingsError `invalid_option` */
export function parsePageOptions(subject: string, options: PageOptions): PageSettings {
  return parseOptions(`${subject}: `, optionsSchema, options);
}

const isPersonName = (given: unknown): boolean => name(200).safeParse(given).success;

const accessSchema = optionsObject(
  {
    account_id: option<AccountId>(
      "the id of an account",
      (given) => typeof given === "string" && isId("acct", given),
    ),
    mode: choiceOption<Mode>("sandbox", "live"),
    operator: optionsObject({
      id: option<string>("a string of 1 to 200 characters", isPersonName),
      name: option<string>("a string of 1 to 200 characters", isPersonName),
      avatar_url: option<string>(
        "an http or https URL",
        (given) => webUrl.safeParse(given).success,
      ).optional(),
    }),
    may: listOption("scopes of API keys", choiceOption<KeyScope>(...keyScopes), keyScopes.length),
  },
  "null or { account_id, mode, operator, may }",
);

const resultSchema = optionsObject({ result: accessSchema });

/** What `authorize` returned, after the check. */
export interface CheckedAccess extends PageAccess {
  readonly account_id: AccountId;
}

/**
 * Checks what `authorize` returned.
 * @throws TypeError that says what is wrong. The log has it, and the browser gets a general error.
 */
export function parseAccess(subject: string, access: PageAccess): CheckedAccess {
  try {
    return parseOptions(`${subject}: authorize: `, resultSchema, { result: access }).result;
  } catch (error) {
    // The browser would get the text of a TidingsError, which quotes values of the application.
    throw new TypeError(errorFacts(error).message, { cause: error });
  }
}
