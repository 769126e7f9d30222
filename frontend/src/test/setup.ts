import { notifications } from '@mantine/notifications';
import { cleanup, configure } from '@testing-library/react';
import { afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { pending } from '@/shared/ui/pending';
import { install, reset } from './fakeApi';

// A busy machine renders slowly: the tests are about what appears, not when.
vi.setConfig({ testTimeout: 30_000 });
configure({ asyncUtilTimeout: 8000 });
install();
// jsdom loads no fonts; fields that grow with their text listen for them.
if (!document.fonts) Object.defineProperty(document, 'fonts', { value: new EventTarget() });

// Files share a process and its modules, which is three times as fast: no state may outlive a test.
beforeAll(async () => {
  const { addWords, startI18n } = await import('@/i18n');
  await startI18n();
  addWords((await import('@/i18n/en')).default);
});
beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  reset();
});
afterEach(() => {
  cleanup();
  // Toasts outlive the page that showed them; those over the limit would hide the next test's.
  notifications.cleanQueue();
  notifications.clean();
  // Unsent changes would be sent by the next test that signs out.
  pending.clear();
});
