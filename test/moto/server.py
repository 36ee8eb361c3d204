"""moto's Step Functions on a loopback port, executing state machines, with what is outside a state machine given from outside.

Started by installed.ts with one argument, the address of the caller's own server, which plays the world: POST /invoke for a function,
POST /starting for a start that a state makes, POST /delay for the wait before a retry. Prints its port on one line, then serves
until its standard input closes.

Nothing of how moto interprets a machine is changed. Replaced are
  - the evaluator of JSONata, which moto comes without: jsonata-python;
  - the invocation of a function, which hands the payload over as it is, token included;
  - the start that a state makes, which can be told to fail, and whose arguments moto gives to its own client under names that client
    does not know;
  - the time: a second of the machine takes 1/SCALE of a second (a limit that is not to pass: 1/CALM_SCALE), and jitter draws its upper
    bound, so that delays compare.
"""

import functools
import json
import os
import sys
import threading
import time
import types
import urllib.request

import jsonata
from botocore.exceptions import ClientError
from moto.core.config import default_user_config
from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from moto.stepfunctions.parser.asl.component.common.retry import jitter_strategy_decl, retrier_decl
from moto.stepfunctions.parser.asl.component.program import program
from moto.stepfunctions.parser.asl.component.state.exec import execute_state
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import state_task_service_sfn
from moto.stepfunctions.parser.asl.jsonata import jsonata as expressions

SCALE = 20
# Of the limits of tasks on machines that are not called hasty: no limit is to pass there, however busy this computer is.
CALM_SCALE = 2
# Longer than any time limit of a machine takes here; the machine's own limit ends the wait first.
CALL_SECONDS = 60
WORLD = sys.argv[1]


def ask(path, body):
    """The world's answer as JSON. Raises when it does not answer within CALL_SECONDS."""
    request = urllib.request.Request(WORLD + path, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=CALL_SECONDS) as answer:
        return json.load(answer)


def evaluate(expression):
    try:
        return json.loads(json.dumps(plain(jsonata.Jsonata(expression).evaluate(None))))
    except Exception as error:
        raise expressions.JSONataException("UNKNOWN", str(error))


def plain(value):
    """jsonata-python's lists and its null as Python's own."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if value is jsonata.Utils.NULL_VALUE:
        return None
    # JSON has one kind of number; 2.0 is 2.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def invoke(parameters, region, state_credentials):
    payload = json.loads(parameters["Payload"])
    answer = ask("/invoke", {"function": parameters["FunctionName"], "payload": payload})
    if "error" in answer:
        return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": answer["error"]}
    return {"StatusCode": 200, "ExecutedVersion": "$LATEST", "Payload": answer["result"]}


StateTaskServiceSfn = state_task_service_sfn.StateTaskServiceSfn
make_client = state_task_service_sfn.boto_client_for


@functools.cache
def client_of(region, service):
    return make_client(region=region, service=service)


def client_for(region, service, state_credentials=None):
    """Made once: making one takes a good part of the state's limit, at this pace of time."""
    return client_of(region, service)


start_unhindered = StateTaskServiceSfn._eval_service_task


def start(self, env, resource_runtime_part, normalised_parameters, state_credentials):
    """A start that can be refused before it is made, or whose answer can be lost after."""
    # moto gives the arguments to its own client by the names of the machine file, which that client does not know.
    request = {name[0].lower() + name[1:]: value for name, value in normalised_parameters.items()}
    told = ask("/starting", request)
    if told.get("before"):
        raise refused(told["before"])
    start_unhindered(self, env, resource_runtime_part, request, state_credentials)
    if told.get("after"):
        env.stack.pop()
        raise refused(told["after"])


def refused(code):
    response = {"Error": {"Code": code, "Message": ""}, "ResponseMetadata": {"HTTPStatusCode": 400, "RequestId": "r"}}
    return ClientError(response, "StartExecution")


current = threading.local()
evaluate_unhindered = execute_state.ExecutionState._evaluate_with_timeout


def within_limit(self, env):
    current.scale = SCALE if ":hasty" in env.states.context_object.context_object_data["Execution"]["Id"] else CALM_SCALE
    evaluate_unhindered(self, env)


class Limit(threading.Event):
    def wait(self, timeout=None):
        return super().wait(None if timeout is None else timeout / current.scale)


class ScaledThread(threading.Thread):
    def join(self, timeout=None):
        super().join(None if timeout is None else timeout / SCALE)


retry_unhindered = retrier_decl.RetrierDecl._eval_body


def retry(self, env):
    current.execution = env.states.context_object.context_object_data["Execution"]["Id"]
    retry_unhindered(self, env)


def sleep(seconds):
    ask("/delay", {"execution": current.execution, "seconds": seconds})
    time.sleep(seconds / SCALE)


expressions._eval_jsonata = evaluate
lambda_eval_utils._invoke_lambda_function = invoke
StateTaskServiceSfn._eval_service_task = start
state_task_service_sfn.boto_client_for = client_for
execute_state.ExecutionState._evaluate_with_timeout = within_limit
execute_state.threading = types.SimpleNamespace(Event=Limit)
program.threading = types.SimpleNamespace(Thread=ScaledThread)
retrier_decl.RetrierDecl._eval_body = retry
retrier_decl.time = types.SimpleNamespace(sleep=sleep)
jitter_strategy_decl.random = types.SimpleNamespace(uniform=lambda least, most: most)
default_user_config["stepfunctions"] = {"execute_state_machine": True}

if __name__ == "__main__":
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    port = server.get_host_and_port()[1]
    # A state that starts an execution asks this same server.
    os.environ["MOTO_PORT"] = str(port)
    client_for("us-east-1", "stepfunctions")
    print(port, flush=True)
    sys.stdin.read()
    # Threads of executions that wait for something are not worth waiting for.
    os._exit(0)
