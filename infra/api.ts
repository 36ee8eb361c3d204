/**
 * API: the table of routes (lib/api/routes.ts) on API Gateway, every route to the door that serves it, and who the gateway lets through:
 * IAM callers unless the deployment names an issuer of tokens.
 *
 * Guards the account's concurrency, which the supervisors need too: routes that anyone may call, and the one that takes an attempt's token
 * (which we check ourselves), pass without the gateway's leave; and one holds its function for as long as the caller waits. Each of
 * these has a low limit of its own.
 */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  type CfnStage,
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpRoute,
  HttpRouteKey,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer, HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Route } from '../lib/api/route.ts';
import { ROUTES } from '../lib/api/routes.ts';
import { DOORS, type DoorName } from '../lib/aws/doors.ts';
import { acknowledgeOpenRoute } from './acknowledged.ts';
import type { Deployment } from './deployment.ts';
import { prefixOf } from './state-stack.ts';

interface Throttle {
  readonly throttlingRateLimit: number;
  readonly throttlingBurstLimit: number;
}

/** What the gateway waits for a function at most; functions of doors end by then (functions.ts). */
const INTEGRATION_SECONDS = 29;

/** Requests a second, and at once, of a route that the gateway lets everybody through to. */
const OPEN = {
  /** A run reports a save every few minutes; a thousand runs that save in the same second are heard within a minute, or listed later. */
  attempt: { throttlingRateLimit: 20, throttlingBurstLimit: 40 },
  anyone: { throttlingRateLimit: 5, throttlingBurstLimit: 10 },
} as const;

/**
 * Of routes whose callers wait, by id: each request holds a copy of the function for up to 25 s, so this rate keeps at most 270 busy. At
 * the API's own rate one reader would take the whole account's thousand, and supervisors would find no room.
 */
const WAITING: Readonly<Record<string, Throttle>> = {
  watchEvents: { throttlingRateLimit: 10, throttlingBurstLimit: 20 },
};

const isOpen = (access: Route['access']): access is keyof typeof OPEN => access in OPEN;

export const routeKey = (one: Pick<Route, 'method' | 'path'>): string => `${one.method.toUpperCase()} ${one.path}`;

/** Throws when a route has no door: the table and the doors have come apart. */
export const doorOf = (id: string): DoorName => {
  const found = (Object.keys(DOORS) as DoorName[]).find((name) => (DOORS[name] as readonly string[]).includes(id));
  if (!found) throw new Error(`no door serves the route ${id}`);
  return found;
};

export interface ApiProps {
  readonly deployment: Deployment;
  readonly functions: Readonly<Record<DoorName, IFunction>>;
}

export class Api extends Construct {
  readonly api: HttpApi;
  readonly url: string;

  constructor(scope: Construct, id: string, { deployment, functions }: ApiProps) {
    super(scope, id);
    this.api = new HttpApi(this, 'Http', {
      apiName: prefixOf(deployment),
      description: `dispatch ${deployment.tag}`,
      createDefaultStage: false,
    });
    const closed = authorizerOf(deployment);
    const open = new HttpNoneAuthorizer();
    const integrations = new Map<DoorName, HttpLambdaIntegration>();
    const routes = ROUTES.map((one) => {
      const name = doorOf(one.id);
      // One for each function; who may invoke it is said for each route.
      const integration =
        integrations.get(name) ?? new HttpLambdaIntegration(name, functions[name], { timeout: Duration.seconds(INTEGRATION_SECONDS) });
      integrations.set(name, integration);
      const made = new HttpRoute(this, one.id, {
        httpApi: this.api,
        routeKey: HttpRouteKey.with(one.path, one.method === 'get' ? HttpMethod.GET : HttpMethod.POST),
        integration,
        authorizer: isOpen(one.access) ? open : closed,
      });
      if (isOpen(one.access)) acknowledgeOpenRoute(made, one.access);
      return made;
    });
    const stage = this.stage(deployment);
    // The stage names routes, which must be there first.
    for (const one of routes) stage.node.addDependency(one);
    this.url = this.api.apiEndpoint;
  }

  private stage(deployment: Deployment): HttpStage {
    const stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: deployment.requestsPerSecond, burstLimit: deployment.requestsPerSecond * 2 },
      accessLogSettings: {
        destination: new LogGroupLogDestination(
          new LogGroup(this, 'AccessLog', {
            logGroupName: `/aws/vendedlogs/apis/${prefixOf(deployment)}`,
            retention: deployment.logDays,
            removalPolicy: RemovalPolicy.DESTROY,
          }),
        ),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    (stage.node.defaultChild as CfnStage).routeSettings = Object.fromEntries(
      ROUTES.flatMap((one) => {
        const limits = isOpen(one.access) ? OPEN[one.access] : WAITING[one.id];
        return limits ? [[routeKey(one), cased(limits)]] : [];
      }),
    );
    return stage;
  }
}

/** Neither headers nor queries: a token may be in one of them. */
const ACCESS_LOG = {
  requestId: '$context.requestId',
  at: '$context.requestTime',
  route: '$context.routeKey',
  path: '$context.path',
  status: '$context.status',
  caller: '$context.identity.userArn',
  subject: '$context.authorizer.claims.sub',
  from: '$context.identity.sourceIp',
  latencyMs: '$context.responseLatency',
  refused: '$context.authorizer.error',
  error: '$context.integrationErrorMessage',
} as const;

const authorizerOf = ({ access }: Deployment): IHttpRouteAuthorizer =>
  access.kind === 'iam' ? new HttpIamAuthorizer() : new HttpJwtAuthorizer('Tokens', access.issuer, { jwtAudience: [...access.audience] });

/** The template's map has no type of its own, so its members are written as CloudFormation spells them. */
const cased = (limits: Throttle) => ({
  ThrottlingRateLimit: limits.throttlingRateLimit,
  ThrottlingBurstLimit: limits.throttlingBurstLimit,
});
