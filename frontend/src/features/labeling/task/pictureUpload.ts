import { csrfToken } from '@/api/client';
import type { GuidelinePicture } from '@/api/contract/labeling';
import { ApiError, readApiError } from '@/api/errors';

/** The most that the server takes of a picture. */
export const MAX_PICTURE_BYTES = 10_000_000;

/** Sends a picture and returns it as the server has it; `onRatio` hears how much has left, 0 to 1. */
export function sendPicture(
  project: string,
  file: Blob,
  signal: AbortSignal,
  onRatio: (ratio: number) => void,
): Promise<GuidelinePicture> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const onAbort = () => request.abort();
    signal.addEventListener('abort', onAbort);
    request.upload.onprogress = ({ loaded, total }) => onRatio(total > 0 ? loaded / total : 0);
    request.onloadend = () => {
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted) reject(signal.reason);
      else if (request.status === 200 || request.status === 201) resolve(JSON.parse(request.responseText));
      else if (request.status === 0) reject(new ApiError({ status: 0, code: 'unreachable', title: '' }));
      else readApiError(answerOf(request)).then(reject, reject);
    };
    request.open('POST', `/api/v1/projects/${encodeURIComponent(project)}/labelx/guideline-pictures/`);
    request.setRequestHeader('X-CSRFToken', csrfToken());
    request.setRequestHeader('Content-Type', file.type || 'application/octet-stream');
    request.send(file);
  });
}

const answerOf = (request: XMLHttpRequest) =>
  new Response(request.responseText, {
    status: request.status,
    headers: { 'content-type': request.getResponseHeader('content-type') ?? '' },
  });
