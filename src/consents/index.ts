export {
  checkPolicies,
  type PolicyContext,
  type PolicyVerdict,
  policyVerdictSchema,
  throwIfDenied,
  decisionOf,
  toPolicyVerdict,
} from "./check-policies.ts";
export { consentsModule } from "./descriptor.ts";
export { keywordOf, suspectsOptOut } from "./keywords.ts";
