/** What an action may do, as the forms say it. */
import type { AgentAction } from "../../../../../../src/index.ts";
import { e } from "./texts.ts";

/** The name of a risk. */
export const riskName = (risk: AgentAction["risk"]): string =>
  ({ read: e("riskRead"), write: e("riskWrite"), approval: e("riskApproval") })[risk];
