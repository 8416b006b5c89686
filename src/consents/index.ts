export {
  checkPolicies,
  decisionOf,
  type PolicyContext,
  type PolicyVerdict,
  policyVerdictSchema,
  throwIfDenied,
  toPolicyVerdict,
} from "./check-policies.ts";
export { keywordOf, suspectsOptOut } from "./keywords.ts";
