/** How many event streams may be open, and how many are. */
import { TidingsError, type Scope } from "../../kernel/index.ts";
import type { Caller } from "../../operations/index.ts";

/** Open event streams of one API key in this process. */
const maxPerKey = 100;
/** Open event streams of one operator in this process, such as pages in several browsers. */
const maxPerOperator = 20;
/** Open event streams of the API keys and operators of one account in this process. */
const maxPerAccount = 1_000;
/** Open event streams of all API keys and operators in this process. Each is an open socket. */
const maxOfCallers = 10_000;

/** Counts the open event streams of API keys and operators in this process. */
export class StreamCounts {
  /** By the names of `limitsOf`. */
  readonly #counts = new Map<string, number>();

  /**
   * Counts a stream that opens. Returns a function that ends its count; call it once.
   * @throws TidingsError `too_many_streams`, `overloaded`
   */
  add(caller: Caller, scope: Scope): () => void {
    const limits = limitsOf(caller, scope);
    const full = limits.find(({ name, max }) => this.#count(name) >= max);
    if (full !== undefined) throw full.refusal(full.max);
    for (const { name } of limits) this.#counts.set(name, this.#count(name) + 1);
    return () => {
      for (const { name } of limits) {
        const left = this.#count(name) - 1;
        if (left === 0) this.#counts.delete(name);
        else this.#counts.set(name, left);
      }
    };
  }

  #count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
}

/** A limit that applies to a stream: whose open streams it counts, and how many there may be. */
interface StreamLimit {
  readonly name: string;
  readonly max: number;
  readonly refusal: (max: number) => TidingsError;
}

/** The limits of a caller's event streams. The host application has none. */
function limitsOf(caller: Caller, { account_id }: Scope): readonly StreamLimit[] {
  if (caller.type !== "key" && caller.type !== "operator") return [];
  const own =
    caller.type === "key"
      ? { name: caller.key_id, max: maxPerKey, refusal: tooMany("This API key") }
      : {
          name: `${account_id} ${caller.operator.id}`,
          max: maxPerOperator,
          refusal: tooMany("This operator"),
        };
  return [
    own,
    { name: account_id, max: maxPerAccount, refusal: tooMany("This account") },
    { name: "all", max: maxOfCallers, refusal: overloaded },
  ];
}

function tooMany(owner: string): (max: number) => TidingsError {
  return (max) =>
    new TidingsError(
      "too_many_streams",
      `${owner} has ${max} open event streams in this process, which is the maximum. Close one ` +
        "of them first.",
    );
}

function overloaded(): TidingsError {
  return new TidingsError("overloaded", "Too many event streams are open. Try again later.");
}
