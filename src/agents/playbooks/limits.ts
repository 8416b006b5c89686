/** Maximum numbers of items in one playbook. */
export const playbookLimits = {
  steps: 100,
  slots: 50,
  options: 50,
  cases: 20,
  values: 50,
} as const;
