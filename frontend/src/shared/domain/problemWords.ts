import { type ApiError, type FieldCode, sentenceOf } from '@/api/errors';
import i18n, { FIELDS, PROBLEMS, sayDetail } from '@/i18n';

export interface ProblemWords {
  title: string;
  /** The detail of this one case; in the server's English where its words are not known. */
  detail: string;
  action: string;
}

/** The words of an error in the present language, where that is not the server's; undefined: as the server has it. */
export function translatedProblem(
  error: Pick<ApiError, 'code' | 'title' | 'detail'> & Partial<Pick<ApiError, 'sentence'>>,
): ProblemWords | undefined {
  const words: readonly [string, string] | undefined = i18n.getResource(i18n.language, PROBLEMS, error.code);
  if (!words) return undefined;
  const [title, action] = words;
  // Without a detail of its own the server repeats its title.
  return { title, action, detail: error.detail === error.title ? '' : sayDetail(error.detail, error.sentence) };
}

/** A problem that is part of an answer: what a piece of work in the background failed of. */
export interface StoredProblem {
  code: string;
  title?: string;
  detail: string;
  detail_code?: string | null;
  detail_params?: Record<string, unknown> | null;
  action: string;
}

/** A stored problem in the present language. */
export function problemWords(problem: StoredProblem): ProblemWords {
  const { code, title = '', detail, action } = problem;
  const sentence = sentenceOf(problem);
  return translatedProblem({ code, title, detail, sentence }) ?? { title, detail: sayDetail(detail, sentence), action };
}

/** The event and the next step, where a title names the error already. */
export function problemSentence(problem: StoredProblem): string {
  const { title, detail, action } = problemWords(problem);
  const said = detail || title;
  return said.includes(action) ? said : `${said} ${action}`;
}

/** The error of a field by its code: a rule of forms, or a sentence of the server. */
function fieldSentence({ code, params }: FieldCode): string | undefined {
  const template: string | undefined = i18n.getResource(i18n.language, FIELDS, code);
  if (template) return i18n.services.interpolator.interpolate(template, params, i18n.language, {});
  return sayDetail('', { code, params }) || undefined;
}

/** The errors of each field in the present language; as the server has them where one of its codes has no words. */
export function fieldWords({ fields, fieldCodes }: Pick<ApiError, 'fields' | 'fieldCodes'>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      const words = (fieldCodes[name] ?? []).map((each) => fieldSentence(each));
      return [name, words.length > 0 && words.every(Boolean) ? words.join('') : text];
    }),
  );
}
