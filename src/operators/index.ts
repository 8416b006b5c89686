export type { Operator, SaveOperator } from "./types.ts";
