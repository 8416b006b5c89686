export type { Operator, SaveOperator } from "./types.ts";
export { operatorById } from "./rows.ts";
