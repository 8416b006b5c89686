export {
  checkPolicies,
  type PolicyContext,
  throwIfDenied,
  decisionOf,
  toPolicyVerdict,
} from "./check-policies.ts";
export { consentsModule } from "./descriptor.ts";
export { getConsents } from "./reads.ts";
export { keywordOf, suspectsOptOut } from "./keywords.ts";
export { changeConsent } from "./change-consent.ts";
export { type PolicyVerdict, policyVerdictSchema } from "./types.ts";
