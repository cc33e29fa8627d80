/** A PNG by its first bytes: forwarded as one page, never decoded on the way. */
export const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000003e8000003e808000000004b6d2983', 'hex');
