export type { Operator, SaveOperator } from "./types.ts";
export { operatorById, operators } from "./rows.ts";
