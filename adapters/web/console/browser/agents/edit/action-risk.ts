/** How the forms name what an action may do. */
import type { AgentAction } from "../../../../../../src/index.ts";
import { e } from "./texts.ts";

/** The name of a risk. */
export const riskName = (risk: AgentAction["risk"]): string =>
  ({ read: e("riskRead"), write: e("riskWrite"), approval: e("riskApproval") })[risk];
