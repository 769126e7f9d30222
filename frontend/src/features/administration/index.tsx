import './words/index';

export { AuditLogPage } from './audit/AuditLogPage';
export { ClusterPage } from './clusters/ClusterPage';
export { ClustersPage } from './clusters/ClustersPage';
export { GarbagePage } from './garbage/GarbagePage';
export { HealthPage } from './health/HealthPage';
export { MachinesPage } from './machines/MachinesPage';
export { PeoplePage } from './people/PeoplePage';
export { StoresPage } from './stores/StoresPage';
export { UnitPage } from './units/UnitPage';
export { UnitsPage } from './units/UnitsPage';
