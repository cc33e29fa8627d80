import type { ProfileName } from '@pagefleet/contract';

/** A page as each engine writes it: its own labels, its own grid, and the odd things that models leave in. */
const SURYA = `<div data-label="Page-Header" data-bbox="100 10 900 30"><p>Annual report</p></div>
<div data-label="Section-Header" data-bbox="100 50 900 80">Results &amp; outlook</div>
<div data-label="Text" data-bbox="100 100 900 400"><p>Sales at the cafe´ grew by <b>4 %</b>.</p><p>Costs fell<br>a little.</p></div>
<div data-label="List" data-bbox="100 410 900 500"><ul><li>north<ul><li>coast</li></ul></li><li>south</li></ul></div>
<div data-label="Table" data-bbox="100 510 900 700"><table><tr><th colspan="2">Year</th></tr><tr><td>2019</td><td>4.1</td></tr></table></div>
<div data-label="Equation" data-bbox="100 710 900 750"><math display="block">E = mc^2</math></div>
<div data-label="Figure" data-bbox="100 760 900 800"></div>
<div data-label="Caption" data-bbox="100 810 900 830">Figure 1: nothing <i>new</i></div>
<div data-label="Form" data-bbox="100 840 900 880"><p><input type="checkbox" checked> paid</p></div>
<div data-label="Footnote" data-bbox="100 890 900 920"><sup>1</sup> Estimated.</div>
<div data-label="Page-Footer" data-bbox="480 980 520 990">17</div>`;

const CHANDRA = `\`\`\`html
<div data-label="Page-Header" data-bbox="102 10 921 30">Annual report</div>
<div data-label="Section-Header" data-bbox="102 51 921 82"><h1>Results &amp; outlook</h1></div>
<div data-label="Text" data-bbox="102 102 921 409"><p>Sales at the café grew by <b>4 %</b>.</p><p>Costs fell a little.</p></div>
<div data-label="List-Group" data-bbox="102 420 921 512"><ul><li>north<ul><li>coast</li></ul></li><li>south</li></ul></div>
<div data-label="Table" data-bbox="102 522 921 716"><table border="1"><tr><th colspan="2">Year</th></tr><tr><td>2019</td><td>4.1</td></tr></table></div>
<div data-label="Equation-Block" data-bbox="102 727 921 768"><math display="block">E = mc^2</math></div>
<div data-label="Image" data-bbox="102 778 921 819"><img alt="a harbour at dusk"></div>
<div data-label="Code-Block" data-bbox="102 829 921 850">a = 1<br>b = 2</div>
<div data-label="Form" data-bbox="102 860 921 901"><p><input type="checkbox" checked> paid</p></div>
<div data-label="Footnote" data-bbox="no idea"><sup>1</sup> Estimated.</div>
<div data-label="Page-Footer" data-bbox="491 1003 532 1013">17</div>
\`\`\``;

const OLMOCR = `---
primary_language: en
is_rotation_valid: True
rotation_correction: 0
is_table: False
is_diagram: False
---
# Results & outlook

Sales at the café grew by **4 %**. Costs fell a little.

- north
- south

<table>
<tr><th colspan="2">Year</th></tr>
<tr><td>2019</td><td>4.1</td></tr>
</table>

\\[ E = mc^2 \\]

![a harbour at dusk](page_102_778_819_41.png)`;

export const WHOLE_REPLIES: Readonly<Record<ProfileName, string>> = {
  surya: SURYA,
  chandra: CHANDRA,
  olmocr: OLMOCR,
};

/** A page that ends in a refrain: whether it is a loop cannot be told from it. */
export function refrainOf(profile: ProfileName): string {
  const refrain = 'ha ha, said the clown. '.repeat(8).trim();
  const [head = ''] = OLMOCR.split('# Results');
  return profile === 'olmocr'
    ? `${head}${refrain}`
    : `<div data-label="Text" data-bbox="0 0 900 900">${refrain}</div>`;
}

/** What none of the engines writes of a page. */
export const INVALID_REPLIES: readonly string[] = [
  '[{"label": "Text", "bbox": "100 100 900 400", "count": 3}, {"label": "Tab',
  '<html><body><h1>Results</h1><table><tr><td>2019',
  'I am sorry, but I cannot read the text of this picture.',
];
