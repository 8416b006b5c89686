/** What went out and came in, counted. */
import { z } from "zod";
import { channelSchema } from "../kernel/index.ts";

const day = z.iso.date();

export const usageCountSchema = z
  .strictObject({
    day: day.meta({ description: "In UTC." }),
    channel: channelSchema,
    status: z.string().meta({
      description:
        "That the messages came to; one that is tried again enters `queued` and `sending` again.",
    }),
    messages: z.int().min(0),
    segments: z.int().min(0),
  })
  .meta({ id: "UsageCount" });
export interface UsageCount extends z.infer<typeof usageCountSchema> {}

export const usageSchema = z
  .strictObject({ from: day, to: day, data: z.array(usageCountSchema) })
  .meta({ id: "Usage" });
export interface Usage extends z.infer<typeof usageSchema> {}

export const getUsageSchema = z.strictObject({
  from: day
    .optional()
    .meta({ description: "First day, inclusive. By default 30 days before the last." }),
  to: day.optional().meta({ description: "Last day, inclusive. By default today." }),
});
export interface GetUsage extends z.infer<typeof getUsageSchema> {}
