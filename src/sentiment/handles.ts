import { getContactSentiment } from "./reads.ts";
import { queryById } from "../operations/index.ts";

export const sentimentHandles = {
  contacts: {
    sentiment: queryById(getContactSentiment),
  },
};
