import { Type } from 'typebox';
import { section } from './kinds.ts';

function usd(description: string, unit: string) {
  return Type.Number({ minimum: 0, maximum: 1_000_000, default: 0, description, unit });
}

/** A provider that costs money does not start without the two soft limits. */
export const MoneyConfig = section(
  {
    usd_per_hour: usd('What the fleet may bill per hour: at it, nothing more is rented. 0: not set.', '$/h'),
    usd_per_day: usd('What a day may cost: at it, nothing more is rented. 0: not set.', '$'),
    hard_usd_per_hour: usd('Above it pods are drained; 0: the same as usd_per_hour.', '$/h'),
    hard_usd_per_day: usd('At it all pods that cost money are drained; 0: the same as usd_per_day.', '$'),
    time_zone: Type.String({
      minLength: 1,
      default: 'UTC',
      description: 'Zone of the day that is billed and of the pools’ schedules, as in the tz database.',
    }),
  },
  { description: 'Budgets. Nothing that costs money is rented without usd_per_hour and usd_per_day.' },
);

export const RunpodConfig = section(
  {
    api_key_file: Type.String({
      default: '',
      description:
        'File with the API key, readable by its owner only; relative to the configuration file. Empty: `RUNPOD_API_KEY`.',
    }),
    rest_url: Type.String({
      pattern: '^https?://',
      default: 'https://api.runpod.io/v2',
      description: 'Address of REST v2.',
    }),
    graphql_url: Type.String({
      pattern: '^https?://',
      default: 'https://api.runpod.io/graphql',
      description: 'Address of GraphQL.',
    }),
    graphql_hourly_budget: Type.Integer({
      minimum: 0,
      maximum: 3_600,
      default: 1_500,
      description: 'GraphQL calls per hour past which whatever REST v2 can do goes there (R-061); 0: off.',
      unit: 'calls/h',
    }),
  },
  { description: 'The RunPod account.' },
);
