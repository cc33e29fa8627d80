import type { Asked } from './asked.ts';
import { shareOf } from './hash.ts';
import type { Rule, Script, ScriptedReply, When } from './script.ts';

/** Finds the rule of a request and counts how often each one was met. */
export interface Rules {
  choose(asked: Asked, script: Script): ScriptedReply;
}

export function createRules(): Rules {
  let counted: Script | null = null;
  let met: number[] = [];
  return {
    choose(asked, script) {
      if (counted !== script) met = [];
      counted = script;
      const rules: readonly Rule[] = script.rules ?? [];
      for (const [at, { when = {}, reply }] of rules.entries()) {
        if (!fits(when, asked) || !inShare(when, asked, `${script.seed ?? 1}.${at}`)) continue;
        met[at] = (met[at] ?? 0) + 1;
        if (when.nth === undefined || [when.nth].flat().includes(met[at])) return reply;
      }
      return {};
    },
  };
}

function fits(when: When, asked: Asked): boolean {
  return (
    (when.page === undefined || when.page === asked.page?.page.name) &&
    (when.textContains === undefined || asked.promptText.includes(when.textContains)) &&
    (when.model === undefined || when.model === asked.model) &&
    (when.path === undefined || when.path === asked.path) &&
    (when.stream === undefined || when.stream === asked.stream)
  );
}

function inShare({ share }: When, { hash }: Asked, seed: string): boolean {
  return share === undefined || shareOf(`${seed}.${hash}`) < share;
}
