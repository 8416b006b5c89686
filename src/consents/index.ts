export {
  checkPolicies,
  type PolicyContext,
  throwIfDenied,
  decisionOf,
  toPolicyVerdict,
} from "./check-policies.ts";
export { keywordOf, suspectsOptOut } from "./keywords.ts";
export { type PolicyVerdict, policyVerdictSchema } from "./types.ts";
