import { addWords } from '@/i18n';
import { git } from '@/i18n/git.en';
import { secrets } from '@/i18n/secrets.en';
import { settings } from '@/i18n/settings.en';
import { sharing } from '@/i18n/sharing.en';
import { webhooks } from './webhooks.en';
import '@/shared/domain/people/words';

addWords({ git, secrets, settings, sharing, webhooks });
