export interface ErrorFacts {
  readonly name: string;
  readonly code?: string | number;
  readonly message: string;
}

/** What is logged of a foreign error. HTTP clients often attach the whole request, with credentials and message texts. */
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
