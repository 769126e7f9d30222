import { api } from '@/api/client';
import { type Language, setLanguage } from '@/i18n';

/** Switches here at once, and tells the server for the next machine; that it fails is no reason to complain. */
export function chooseLanguage(language: Language): void {
  void setLanguage(language);
  api.PATCH('/api/v1/users/me/', { body: { language } }).catch(() => undefined);
}
