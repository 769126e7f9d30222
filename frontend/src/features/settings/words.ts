import { addWords } from '@/i18n';
import { health } from '@/i18n/health.en';
import { webhooks } from '@/i18n/webhooks.en';

addWords({ health, webhooks });
