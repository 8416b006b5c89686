export { judgeMessage, type Judging, refuseDenied } from "./check-policies.ts";
export { consentsModule } from "./descriptor.ts";
export { getConsents } from "./get.ts";
export { keywordOf, suspectsOptOut } from "./keywords.ts";
export { ruling, verdictOf } from "./policy-rules.ts";
export { type PolicyVerdict, policyVerdictSchema } from "./policy-types.ts";
export { changeConsent } from "./set.ts";
