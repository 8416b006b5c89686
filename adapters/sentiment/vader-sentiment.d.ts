/** What is used of the package, which has no types of its own. */
declare module "vader-sentiment" {
  export const SentimentIntensityAnalyzer: {
    polarity_scores(text: string): { readonly compound: number };
  };
}
