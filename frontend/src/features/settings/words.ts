import { addWords } from '@/i18n';
import { git } from '@/i18n/git.en';
import { health } from '@/i18n/health.en';
import { machines } from '@/i18n/machines.en';
import { secrets } from '@/i18n/secrets.en';
import { settings } from '@/i18n/settings.en';
import { webhooks } from '@/i18n/webhooks.en';

addWords({ git, health, machines, secrets, settings, webhooks });
