/** A pino-shaped logger: facts first, then a sentence. Secrets, bodies and phone numbers are never among the facts. */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
