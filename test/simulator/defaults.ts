export const defaultSteps = 150;
export const defaultSeeds = 300;
