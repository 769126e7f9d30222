import { addWords } from '@/i18n';
import { settings } from '@/i18n/settings.en';
import { agents } from './agents.en';
import { clusters } from './clusters.en';
import { health } from './health.en';
import { machines } from './machines.en';
import { clusterProfile } from './profile.en';
import { clusterQueues } from './queues.en';
import { clusterQuotas } from './quotas.en';
import { stores } from './stores.en';
import '@/shared/domain/people/words';
import '@/shared/domain/secondFactor/words';

addWords({ agents, clusterProfile, clusterQueues, clusterQuotas, clusters, health, machines, settings, stores });
