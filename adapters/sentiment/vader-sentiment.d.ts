/** The part of the package that is used here. The package has no types of its own. */
declare module "vader-sentiment" {
  export const SentimentIntensityAnalyzer: {
    polarity_scores(text: string): { readonly compound: number };
  };
}
