import sharp from 'sharp';

// Pages are the unit of parallel work: one picture never spreads over cores, and none is worth remembering.
sharp.concurrency(1);
sharp.cache(false);

export { sharp };
