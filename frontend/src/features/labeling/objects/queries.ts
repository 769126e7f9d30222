import { $api, api } from '@/api/client';
import type { LeasedSlot, Submission } from '@/api/contract/labeling';
import { asApiError } from '@/api/errors';
import { fieldWords } from '@/shared/domain/problemWords';
import { KEEPALIVE_BYTES, labelerApi, unless } from '../queries';
import type { PageId } from '../workspace/pageId';
import { pooled } from '../workspace/pool';
import type { WorkbenchApi } from '../workspace/workbenchApi';
import { DocumentSender, type DraftBody } from './documentSender';
import type { DocumentProblem, ObjectDraft, ObjectResult } from './documentTable';
import { pointerIn } from './problems';

const REQUESTS_AT_ONCE = 4;

/** A request of a closing page arrives only where it is small. */
const outlivesPage = (body: object) => JSON.stringify(body).length < KEEPALIVE_BYTES;

function putDraft(slot: LeasedSlot, body: DraftBody) {
  const draft = api.PUT('/api/v1/labelx/slots/{slot_id}/draft/', {
    params: { path: { slot_id: slot.id } },
    body: body as never,
    keepalive: outlivesPage(body),
  });
  // Somebody else has the picture now: the heartbeat says so, and no later attempt would do better.
  return unless('stale_lease', draft);
}

/** The faults of a document by their pointers. */
function problemsOf(error: unknown): DocumentProblem[] {
  const failure = asApiError(error);
  const words = Object.entries(fieldWords(failure));
  if (words.length === 0) return [{ pointer: '', texts: [failure.detail || failure.title], at: null }];
  return words.map(([name, text]) => {
    const [x, y] = failure.places[name] ?? [];
    const at: [number, number] | null = x === undefined || y === undefined ? null : [x, y];
    return { pointer: pointerIn(name), texts: [text], at };
  });
}

async function submitOne({ slot, ...body }: Submission): Promise<ObjectResult> {
  try {
    await api.POST('/api/v1/labelx/slots/{slot_id}/submit/', {
      params: { path: { slot_id: slot } },
      body: body as never,
      keepalive: outlivesPage(body),
    });
    return { slot, ok: true };
  } catch (error) {
    const { status, code, detail } = asApiError(error);
    // These are answers; anything else is asked again.
    if (status === 409) return { slot, ok: false, code, detail };
    if (status === 400 || status === 422) return { slot, ok: false, code, detail, problems: problemsOf(error) };
    throw error;
  }
}

async function submitAll(submissions: Submission[]): Promise<ObjectResult[]> {
  const results: ObjectResult[] = [];
  let failure: unknown = null;
  await pooled(submissions, REQUESTS_AT_ONCE, async (submission) => {
    try {
      results.push(await submitOne(submission));
    } catch (error) {
      failure = error;
    }
  });
  if (failure) throw failure;
  return results;
}

/** The labeler's requests, as the table of drawn objects wants them. */
export function objectApi(taskId: string, page: PageId): WorkbenchApi<ObjectDraft> {
  const base = labelerApi(taskId, page);
  const sender = new DocumentSender(putDraft);
  return {
    ...base,
    async takeUp(everything) {
      const work = await base.takeUp(everything);
      sender.confirm([...work.leased, ...work.returned]);
      return work;
    },
    async lease(count, prefetch) {
      const slots = await base.lease(count, prefetch);
      sender.confirm(slots);
      return slots;
    },
    submit: submitAll,
    saveDraft: (slot, sequence, { document }) => sender.send(slot, sequence, document),
  };
}

/** Says that a remark is dealt with. */
export async function resolveIssue(id: string) {
  const { data } = await api.POST('/api/v1/labelx/issues/{issue_id}/resolve/', {
    params: { path: { issue_id: id } },
  });
  return data;
}

export async function commentOnIssue(id: string, text: string) {
  const { data } = await api.POST('/api/v1/labelx/issues/{issue_id}/comments/', {
    params: { path: { issue_id: id } },
    body: { text },
  });
  return data;
}

export const useTemplates = () => $api.useQuery('get', '/api/v1/labelx/templates/');
