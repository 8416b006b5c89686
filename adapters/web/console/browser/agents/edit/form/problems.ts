/** The problems of a form's fields, as the server named them. */
import { ApiError } from "../../../../../shared/browser/index.ts";

interface Problem {
  readonly pointer: string;
  readonly message: string;
}

/** Finds problems by the JSON pointers of a request's body. */
export class Problems {
  readonly #all: readonly Problem[];

  constructor(error: unknown) {
    const { errors = [] } = error instanceof ApiError ? error.problem : {};
    this.#all = errors.flatMap(({ pointer, message }) =>
      pointer === undefined ? [] : [{ pointer, message }],
    );
  }

  /** The problem of one field. */
  of(pointer: string): string | undefined {
    return this.#all.find((each) => each.pointer === pointer)?.message;
  }

  /** All problems of a field and of what is in it, one in each line. */
  in(pointer: string): string | undefined {
    const found = this.#all.filter((each) => isIn(pointer, each.pointer));
    return found.length === 0 ? undefined : found.map(({ message }) => message).join("\n");
  }

  /** The indexes of the items of a list that have problems. */
  indexesIn(pointer: string): ReadonlySet<number> {
    const indexes = this.#all.flatMap((each) => {
      if (!isIn(pointer, each.pointer) || each.pointer === pointer) return [];
      return [Number(each.pointer.slice(pointer.length + 1).split("/")[0])];
    });
    return new Set(indexes);
  }
}

const isIn = (pointer: string, found: string): boolean =>
  found === pointer || found.startsWith(`${pointer}/`);
