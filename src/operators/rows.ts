import { integer, nullable, scoped, text, time, type RowOf } from "../ports/index.ts";

/** People of the host application, under its own ids. */
export const operators = scoped("operators", {
  id: text(),
  /** Unique, and so limits the number of operators. */
  ordinal: integer(),
  name: text(),
  avatar_url: nullable(text()),
  created_at: time(),
  updated_at: time(),
});
export interface OperatorRow extends RowOf<typeof operators> {}

export const operatorById = operators.key("id");
export const operatorByOrdinal = operators.unique("by_ordinal", ["ordinal"]);
