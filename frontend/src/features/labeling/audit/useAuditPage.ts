import { useEffect, useState } from 'react';
import { newPageId, type PageId, sendLeave } from '../workspace/pageId';

/** The audit page as the server knows it; leaving it frees what it holds within a minute. */
export function useAuditPage(taskId: string): PageId | null {
  const [page, setPage] = useState<PageId | null>(null);
  useEffect(() => {
    const opened = newPageId();
    setPage(opened);
    const leave = () => {
      opened.remember();
      sendLeave(taskId, opened.id);
    };
    window.addEventListener('pagehide', leave);
    window.addEventListener('pageshow', opened.returned);
    return () => {
      window.removeEventListener('pagehide', leave);
      window.removeEventListener('pageshow', opened.returned);
      leave();
    };
  }, [taskId]);
  return page;
}
