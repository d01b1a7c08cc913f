import { ReportedModels } from '../../policy/limits/reported-models.ts';
import { UsualRequests } from '../../policy/limits/usual-requests.ts';
import { BodySpace } from '../../policy/overload/body-space.ts';
import { OpenCalls } from './call/open-calls.ts';
import { Settlements } from './settlements.ts';

/** What is under way in a process. It outlives configurations: a call that began under one is found, and waited for, under the next. */
export class GatewayWork {
	readonly openCalls = new OpenCalls();
	readonly bodySpace = new BodySpace();
	readonly settlements = new Settlements();
	readonly usual = new UsualRequests();
	readonly reportedModels = new ReportedModels();
	/** Calls that hold money of a budget now. */
	openHolds = 0;
}
