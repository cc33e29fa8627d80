/** What the system must have, by program. `apt` is Debian's package, `brew` the one to name where there is no apt. */
export const RUN_PACKAGES = [
  { apt: 'nats-server', program: 'nats-server', brew: 'nats-server' },
  { apt: 'nginx', program: 'nginx', brew: 'nginx' },
  { apt: 'supervisor', program: 'supervisord', brew: 'supervisor' },
  { apt: 'tesseract-ocr', program: 'tesseract', brew: 'tesseract' },
  { apt: 'tesseract-ocr-eng', language: 'eng', brew: 'tesseract' },
  { apt: 'tesseract-ocr-osd', language: 'osd', brew: 'tesseract' },
  { apt: 'qpdf', program: 'qpdf', brew: 'qpdf' },
];

/** What only tests need beside it. */
export const TEST_PACKAGES = [
  ...RUN_PACKAGES,
  { apt: 'tesseract-ocr-fra', language: 'fra', brew: 'tesseract-lang' },
];
