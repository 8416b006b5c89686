export interface ErrorFacts {
  readonly name: string;
  readonly code?: string | number;
  readonly message: string;
}

/** What is logged of a transport's error. HTTP clients hang the whole request on theirs, credentials and words included. */
export function errorFacts(error: unknown): ErrorFacts {
  if (!(error instanceof Error)) {
    return {
      name: typeof error,
      message: typeof error === "string" ? error : "Not an error was thrown.",
    };
  }
  const { name, message } = error;
  const code: unknown = "code" in error ? error.code : undefined;
  return typeof code === "string" || typeof code === "number"
    ? { name, code, message }
    : { name, message };
}
