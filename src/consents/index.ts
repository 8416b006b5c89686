export {
  checkPolicies,
  decisionOf,
  type PolicyContext,
  throwIfDenied,
  toPolicyVerdict,
} from "./check-policies.ts";
export { type PolicyVerdict, policyVerdictSchema } from "./policy-types.ts";
export { keywordOf, suspectsOptOut } from "./keywords.ts";
