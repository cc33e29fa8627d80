/** Variables by which the primary tells a member who it is. */
export const BOOT_ID_VARIABLE = 'PAGEFLEET_BOOT_ID';
export const WORKER_VARIABLE = 'PAGEFLEET_WORKER';
