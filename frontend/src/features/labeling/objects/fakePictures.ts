import type { Submission } from '@/api/contract/labeling';
import { objectsOf as objectsIn } from '../canvas/model';
import { FakeTask } from '../workspace/fakeTask';
import type { WorkbenchApi } from '../workspace/workbenchApi';
import type { ObjectDraft, ObjectResult } from './documentTable';

/** A server of pictures with objects. */
export class FakePictures extends FakeTask {
  documents: [string, number, number][] = [];
  /** The classes of the drafts that came. */
  classes: [string, readonly number[]][] = [];
  /** Pictures whose document is refused. */
  invalid = new Set<string>();
  api(): WorkbenchApi<ObjectDraft> {
    return {
      ...this,
      submit: async (submissions: Submission[]): Promise<ObjectResult[]> => {
        const bad = submissions.filter((one) => this.invalid.has(one.slot));
        const good = await this.submit(submissions.filter((one) => !bad.includes(one)));
        const problems = [{ pointer: 'objects/0/box', texts: ['Too far out.'], at: null }];
        return [...good, ...bad.map((one) => ({ slot: one.slot, ok: false, code: 'invalid', problems }))];
      },
      saveDraft: async ({ id }, sequence, { document }) => {
        if (this.offline) throw new TypeError('offline');
        this.documents.push([id, sequence, objectsIn(document).length]);
        this.classes.push([id, document.labels ?? []]);
      },
    };
  }
}
