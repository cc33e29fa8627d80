/**
 * Puts values into `{{name}}`. A name without a value, or a value that could end a line or a word of the file, is a fault
 * of ours and is thrown, not rendered.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`template: no value for {{${name}}}`);
    const text = String(value);
    if (/[\n\r\0]/.test(text)) throw new Error(`template: the value of {{${name}}} holds a line break`);
    return text;
  });
}
